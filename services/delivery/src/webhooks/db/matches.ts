import type { TransactionSql } from "@postrider/shared/postgres";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/**
 * How long before a webhook subscription was created an event may have happened that the subscription still receives. The limit
 * allows for differences between the clocks of the databases. Without a limit, a consumer that reads its topic again would send
 * the events of several days to a new subscription.
 */
const BEFORE_CREATION = "1 minute";

/** Maximum age of events that are assigned to webhook subscriptions. */
const MAX_AGE = "7 days";

interface Candidate extends WebhookEvent {
  /** The event filters of webhook subscriptions that match the event. */
  readonly filters: readonly string[];
  readonly only: string | undefined;
  readonly except: string | undefined;
}

/** A webhook subscription with the events that it receives. */
export interface Match {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  /** Address of the webhook subscription. */
  readonly url: string;
  readonly eventIds: readonly string[];
}

/**
 * Finds the webhook subscriptions that receive events: active and paused ones of the same workspace. An event for one
 * subscription only (`webhook.test`) waits for a disabled subscription to become active, because the event tests the new
 * address.
 */
export async function findMatches(
  tx: TransactionSql,
  events: readonly Candidate[],
): Promise<readonly Match[]> {
  const rows = events.map(({ id, workspaceId, filters, occurredAt, only, except }) => ({
    event_id: id,
    workspace_id: workspaceId,
    filters,
    occurred_at: occurredAt.toISOString(),
    only_id: only ?? null,
    except_id: except ?? null,
  }));
  return await tx<Match[]>`
    select subscription.id as subscription_id, subscription.workspace_id, subscription.url,
      json_agg(event.event_id) as event_ids
    from jsonb_to_recordset(${tx.json(rows)}) as event (
      event_id uuid, workspace_id uuid, filters text[], occurred_at timestamptz, only_id uuid, except_id uuid
    )
    join webhook_subscriptions as subscription on subscription.workspace_id = event.workspace_id
    where (
      subscription.status in ('active', 'paused')
      or subscription.status = 'disabled' and event.only_id is not null
    )
    and event.occurred_at >= now() - ${MAX_AGE}::interval
    and event.occurred_at >= subscription.created_at - ${BEFORE_CREATION}::interval
    and case
      when event.only_id is not null then subscription.id = event.only_id
      else subscription.events && event.filters and subscription.id is distinct from event.except_id
    end
    group by subscription.id`;
}
