import type { TransactionSql } from "@postrider/shared/postgres";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/**
 * How long before a subscription was created an event may have happened that it still receives. It
 * allows for differences between clocks, and without it a consumer that reads its topic again would
 * send the events of several days to a new subscription.
 */
const BEFORE_CREATION = "1 minute";

/** Maximum age of events that are assigned to subscriptions. */
const MAX_AGE = "7 days";

interface Candidate extends WebhookEvent {
  readonly filters: readonly string[];
  readonly only: string | undefined;
  readonly except: string | undefined;
}

/** A subscription with the events that it receives. */
export interface Match {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly eventIds: readonly string[];
}

interface FoundSubscription extends Omit<Match, "eventIds"> {
  readonly group: number;
  /** Events that happened earlier do not reach the subscription. */
  readonly since: Date;
}

/**
 * Finds the subscriptions that receive events: active and paused ones of the same workspace. An
 * event for one subscription only (`webhook.test`) waits for a disabled subscription to become
 * active, because the event tests the new address. A subscription can be in the result several
 * times, each time with other events.
 */
export async function findMatches(
  tx: TransactionSql,
  events: readonly Candidate[],
): Promise<readonly Match[]> {
  // The database compares each type of event of a workspace with the subscriptions once, however
  // many events there are.
  const groups = Map.groupBy(events, ({ workspaceId, type, only, except }) =>
    JSON.stringify([workspaceId, type, only, except]),
  );
  const members = [...groups.values()];
  const found = await findSubscriptions(tx, members);
  return found.flatMap(({ group, since, ...subscription }) => {
    const received = (members[group] ?? []).filter(({ occurredAt }) => occurredAt >= since);
    const eventIds = received.map(({ id }) => id);
    return eventIds.length === 0 ? [] : [{ ...subscription, eventIds }];
  });
}

/** Finds the subscriptions of groups of events that have all but their time in common. */
async function findSubscriptions(
  tx: TransactionSql,
  groups: readonly (readonly Candidate[])[],
): Promise<readonly FoundSubscription[]> {
  const rows = groups.flatMap(([first], index) =>
    first === undefined
      ? []
      : {
          group: index,
          workspace_id: first.workspaceId,
          filters: first.filters,
          only_id: first.only ?? null,
          except_id: first.except ?? null,
        },
  );
  return await tx<FoundSubscription[]>`
    select event."group", subscription.id as subscription_id, subscription.workspace_id, subscription.url,
      greatest(now() - ${MAX_AGE}::interval, subscription.created_at - ${BEFORE_CREATION}::interval) as since
    from jsonb_to_recordset(${tx.json(rows)}) as event (
      "group" int, workspace_id uuid, filters text[], only_id uuid, except_id uuid
    )
    join webhook_subscriptions as subscription on subscription.workspace_id = event.workspace_id
    where (
      subscription.status in ('active', 'paused')
      or subscription.status = 'disabled' and event.only_id is not null
    )
    and case
      when event.only_id is not null then subscription.id = event.only_id
      else subscription.events && event.filters and subscription.id is distinct from event.except_id
    end`;
}
