import type { TransactionSql } from "@postrider/shared/postgres";
import { withoutPlatformText } from "#src/calls/call-event.ts";
import { isFinal } from "#src/calls/call.ts";
import { decideInOrder } from "#src/calls/decide-in-order.ts";
import { Recorder } from "#src/calls/recorder.ts";
import { writeCalls } from "#src/calls/table.ts";
import { delayQueues, wakeQueues } from "#src/engagement/db/action-queues.ts";
import { lockActions } from "#src/engagement/db/action-states.ts";
import { ACTION_TABLE } from "#src/engagement/db/action-table.ts";
import { replaceRequeued } from "#src/engagement/db/replaced-actions.ts";
import {
  ACTIONS,
  type ActionEvent,
  type CommentAction,
  type EndedPrivateReply,
  actionLeaseMs,
} from "#src/engagement/domain/comment-action.ts";
import { countEnd, countRepeated, refusedResultsTotal } from "../../operations/action-metrics.ts";
import { appendEnds } from "../../operations/append-ends.ts";
import type { EngagementDeps, FinishRuns } from "../../operations/dependencies.ts";

interface RecorderDeps extends Pick<EngagementDeps, "sql" | "logger" | "onEvents"> {
  readonly settings: Pick<EngagementDeps["settings"], "retryMs" | "leaseMs">;
  readonly random: () => number;
  readonly finishRuns: FinishRuns;
}

/** Whether the worker keeps the action. */
type Recorded = { readonly isContinued: boolean };

export type ActionRecorder = Recorder<ActionEvent, Recorded>;

export function createActionRecorder(deps: RecorderDeps): ActionRecorder {
  return new Recorder({
    logger: deps.logger,
    what: "the outcomes of comment actions",
    otherwise:
      "when the lease of its action or the deadline of its platform call ends, another worker continues as after a crash",
    identify: ({ id, kind }) => ({ actionId: id, eventType: kind }),
    windowMs: 2,
    maxEntries: 100,
    write: (events) => write(deps, events),
    withoutText: withoutPlatformText,
    unrecorded: { isContinued: false },
    onRefused: (recorded) => {
      if (recorded === "nothing") refusedResultsTotal.inc();
    },
  });
}

async function write(
  deps: RecorderDeps,
  events: readonly ActionEvent[],
): Promise<readonly Recorded[]> {
  const { decisions, ended, repeated } = await deps.sql.begin((tx) =>
    decideAndWrite(deps, tx, events),
  );
  if (ended.length > 0) deps.onEvents();
  for (const action of ended) countEnd(action);
  for (const action of repeated) countRepeated(action);
  return events.map((event) => ({ isContinued: decisions.get(event)?.isContinued === true }));
}

async function decideAndWrite(
  deps: RecorderDeps,
  tx: TransactionSql,
  events: readonly ActionEvent[],
) {
  const { settings, random } = deps;
  const locked = await lockActions(tx, [...new Set(events.map(({ id }) => id))]);
  const policy = { retryMs: settings.retryMs, leaseMs: actionLeaseMs(settings), heldPlatformMs: 0 };
  const decisions = decideInOrder(ACTIONS, locked, events, { policy, random });
  const made = [...decisions.values()];
  const changes = made.flatMap((decision) => decision.changes);
  if (changes.length === 0) return { decisions, ended: [], repeated: [] };
  const changed = new Map(changes.map(({ call }) => [call.id, call]));
  await writeCalls(tx, ACTION_TABLE, [...changed.values()]);
  const replaced = await replaceRequeued(tx, [...changed.keys()]);
  const ended = [...listEnded(locked.calls, changed), ...replaced];
  await appendEnds(tx, ended);
  const replies = ended.flatMap(toEndedReply);
  if (replies.length > 0) await deps.finishRuns(tx, replies);
  await wakeQueues(tx, [...changed.keys()]);
  const delays = made.flatMap(({ call, account }) =>
    account?.kind === "limited" ? [{ accountId: call.accountId, until: account.until }] : [],
  );
  await delayQueues(tx, delays);
  return { decisions, ended, repeated: listRepeated(locked.calls, changed) };
}

type Changed = ReadonlyMap<string, CommentAction>;

/** A further answer with the same result is not a new end. */
function listEnded(stored: readonly CommentAction[], changed: Changed): readonly CommentAction[] {
  return stored.flatMap(({ id, status, errorCode }) => {
    const action = changed.get(id);
    if (action === undefined || !isFinal(action.status)) return [];
    return action.status === status && action.errorCode === errorCode ? [] : [action];
  });
}

/** Returns the actions that a platform turns out to have carried out more than once. */
function listRepeated(
  stored: readonly CommentAction[],
  changed: Changed,
): readonly CommentAction[] {
  return stored.flatMap(({ id, furtherIds }) => {
    const action = changed.get(id);
    return action !== undefined && action.furtherIds.length > furtherIds.length ? [action] : [];
  });
}

function toEndedReply(action: CommentAction): readonly EndedPrivateReply[] {
  const { id, runId, workspaceId, accountId, status, errorCode, errorMessage } = action;
  if (runId === null) return [];
  const code = errorCode ?? "internal_error";
  const result =
    status === "succeeded"
      ? ({ kind: "sent" } as const)
      : ({ kind: "failed", code, message: errorMessage ?? "" } as const);
  return [{ id, runId, workspaceId, accountId, result }];
}
