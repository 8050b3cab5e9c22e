import { setTimeout as sleep } from "node:timers/promises";
import {
  isDamagedData,
  isInfrastructureError,
  type TransactionSql,
} from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { isFinal } from "#src/calls/call.ts";
import { decideInOrder } from "#src/calls/decide.ts";
import { withoutPlatformText } from "#src/calls/storable.ts";
import { holdQueues, wakeQueues } from "#src/engagement/db/action-queues.ts";
import { lockActions, updateActions } from "#src/engagement/db/action-states.ts";
import { replaceRequeued } from "#src/engagement/db/replaced-actions.ts";
import { actionLeaseMs } from "#src/engagement/domain/action-lease.ts";
import {
  ACTIONS,
  type ActionEvent,
  type CommentAction,
  type EndedPrivateReply,
} from "#src/engagement/domain/comment-action.ts";
import { countEnd, countRepeated, refusedResultsTotal } from "./action-metrics.ts";
import { appendEnds } from "./append-ends.ts";
import type { EngagementDeps, FinishRuns } from "./dependencies.ts";

interface RecorderDeps extends Pick<EngagementDeps, "sql" | "logger" | "onEvents"> {
  readonly settings: Pick<EngagementDeps["settings"], "retryMs" | "leaseMs">;
  readonly random: () => number;
  readonly finishRuns: FinishRuns;
}

interface Recorded {
  /** Whether the worker that reported what it learned keeps the lease of the action and continues. */
  readonly isContinued: boolean;
}

/** How long events about actions are collected before they are recorded in one transaction, in milliseconds. */
const WINDOW_MS = 2;
/** Maximum number of events about actions on comments that one transaction records. */
const MAX_EVENTS = 100;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
/**
 * Number of attempts to record an event that the database or our code refuses: first this number of attempts with the
 * platform's text, then the same number without it.
 */
const TRIES_PER_FORM = 3;

/**
 * Records the events that the workers of the process report about actions, and the decisions that follow from them, together
 * with the ends of automation rules' runs and the events for the bus. While the database is unavailable, the recorder repeats
 * the attempt until the process ends, because the outcome of a call is stored nowhere else.
 */
export class ActionRecorder {
  readonly #deps: RecorderDeps;
  readonly #batcher: Batcher<ActionEvent, Recorded>;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_EVENTS,
      flush: (events) => this.#recordAll(events),
    });
  }

  /** Resolves when the event is recorded, however long the database is unavailable. */
  record(event: ActionEvent): Promise<Recorded> {
    return this.#batcher.submit(event);
  }

  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  async #recordAll(events: readonly ActionEvent[]): Promise<readonly Recorded[]> {
    try {
      return await this.#untilAvailable(events);
    } catch (error) {
      this.#logRefusal(error, events);
      // Each event is recorded in a transaction of its own, so that one that the database refuses does not delay the others.
      return await Promise.all(events.map((event) => this.#recordAlone(event)));
    }
  }

  /**
   * Records an event whose batch could not be recorded: first unchanged, because another event or transaction may have been the
   * cause, and then without the platform's text. If the database or our code refuses both, the event is lost: when the lease of
   * the action or the deadline of its platform call ends, another worker continues as after a crash.
   */
  async #recordAlone(event: ActionEvent): Promise<Recorded> {
    const forms = [event, withoutPlatformText(event)];
    for (const form of forms.flatMap((each) => Array<ActionEvent>(TRIES_PER_FORM).fill(each))) {
      await sleep(FIRST_PAUSE_MS);
      try {
        const [recorded] = await this.#untilAvailable([form]);
        return recorded ?? { isContinued: false };
      } catch (error) {
        this.#logRefusal(error, [form]);
      }
    }
    refusedResultsTotal.inc();
    return { isContinued: false };
  }

  /** Writes until the database is available. Throws if the database or our code refuses the write. */
  async #untilAvailable(events: readonly ActionEvent[]): Promise<readonly Recorded[]> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS))
      try {
        return await this.#write(events);
      } catch (error) {
        if (!isInfrastructureError(error) || isDamagedData(error)) throw error;
        this.#deps.logger.error(
          { err: error, count: events.length },
          "the outcomes of comment actions could not be recorded; recording is retried until it succeeds",
        );
        await sleep(pauseMs);
      }
  }

  #logRefusal(error: unknown, events: readonly ActionEvent[]): void {
    const [first] = events;
    this.#deps.logger.error(
      { err: error, count: events.length, actionId: first?.id, event: first?.kind },
      "the database or Postrider's own code refused to record the outcomes of comment actions; each is recorded alone, without the platform's texts if it is refused again",
    );
  }

  async #write(events: readonly ActionEvent[]): Promise<readonly Recorded[]> {
    const { sql, onEvents } = this.#deps;
    const { decisions, ended, repeated } = await sql.begin((tx) =>
      this.#decideAndWrite(tx, events),
    );
    if (ended.length > 0) onEvents();
    for (const action of ended) countEnd(action);
    for (const action of repeated) countRepeated(action);
    return events.map((event) => ({ isContinued: decisions.get(event)?.isContinued === true }));
  }

  async #decideAndWrite(tx: TransactionSql, events: readonly ActionEvent[]) {
    const { settings, random } = this.#deps;
    const locked = await lockActions(tx, [...new Set(events.map(({ id }) => id))]);
    const policy = { retryMs: settings.retryMs, leaseMs: actionLeaseMs(settings), heldMs: 0 };
    const decisions = decideInOrder(ACTIONS, locked, events, { policy, random });
    const made = [...decisions.values()];
    const changes = made.flatMap((decision) => decision.changes);
    if (changes.length === 0) return { decisions, ended: [], repeated: [] };
    const changed = new Map(changes.map(({ call }) => [call.id, call]));
    await updateActions(tx, [...changed.values()]);
    const replaced = await replaceRequeued(tx, [...changed.keys()]);
    const ended = [...listEnded(locked.calls, changed), ...replaced];
    await appendEnds(tx, ended);
    const replies = ended.flatMap(toEndedReply);
    if (replies.length > 0) await this.#deps.finishRuns(tx, replies);
    await wakeQueues(tx, [...changed.keys()]);
    const holds = made.flatMap(({ call, account }) =>
      account?.kind === "limited" ? [{ accountId: call.accountId, until: account.until }] : [],
    );
    await holdQueues(tx, holds);
    return { decisions, ended, repeated: listRepeated(locked.calls, changed) };
  }
}

type Changed = ReadonlyMap<string, CommentAction>;

/**
 * Returns the actions that have ended, each in its last state. A further answer with the same result about an action that has
 * already ended is not a new end.
 */
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
