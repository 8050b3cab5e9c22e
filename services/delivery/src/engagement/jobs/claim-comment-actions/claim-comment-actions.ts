import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { ISql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { inWorkContext } from "@postrider/shared/tracing/work-span";
import { CallMarker } from "#src/calls/call-marker.ts";
import { doubtCalls } from "#src/calls/doubt.ts";
import { listLostCalls } from "#src/calls/marks.ts";
import { settleWithin } from "#src/calls/worker.ts";
import {
  claimActions,
  findNextActionMs,
  nextActionMs,
  type ClaimedAction,
} from "#src/engagement/db/action-claims.ts";
import { ACTION_TABLE } from "#src/engagement/db/action-table.ts";
import { endOldVisibility } from "#src/engagement/db/restore-doubts.ts";
import { actionLeaseMs } from "#src/engagement/domain/comment-action.ts";
import type {
  ActionContext,
  ActionDeps,
} from "#src/engagement/jobs/claim-comment-actions/action-context.ts";
import { createActionRecorder } from "#src/engagement/jobs/claim-comment-actions/action-recorder.ts";
import { workActions } from "#src/engagement/jobs/claim-comment-actions/work-actions.ts";
import { countEnd } from "#src/engagement/operations/action-metrics.ts";
import { appendEnds } from "#src/engagement/operations/append-ends.ts";
import type { EngagementDeps, FinishRuns } from "#src/engagement/operations/dependencies.ts";

export interface ClaimActionsOptions extends ActionDeps, Pick<EngagementDeps, "onEvents"> {
  /** Says whether this process may act on its data. */
  readonly guard: Pick<DeploymentGuard, "isOwn">;
  /** Id of this process, recorded with its leases of actions on comments. */
  readonly owner: string;
  readonly finishRuns: FinishRuns;
}

/** Disposing waits until open calls have ended and their outcomes are recorded. */
export interface ActionClaims extends AsyncDisposable {
  /** Claims ready actions on comments now instead of in the next pass of the loop. */
  readonly nudge: () => void;
  /** Milliseconds since this process last looked for due actions without an error. */
  claimAgeMs(): number;
}

const POLL_MS = 500;
/** While no action is ready. */
const IDLE_MS = 30_000;
/** For lost calls, and for actions that a restore made uncertain. */
const LOOK_MS = 500;
/** For actions that became ready long after the restore. */
const THOROUGH_LOOK_MS = 30_000;
/** So that each claim takes several actions. */
const MIN_CLAIM_INTERVAL_MS = 20;
const MAX_IN_WORK = 64;
const MAX_PER_ACCOUNT = 4;
/** Over all processes. */
const MAX_PER_PLATFORM = 48;
const MAX_LOSSES = 100;
/** How long after a call's deadline a stopping process waits. */
const CALL_MARGIN_MS = 2_000;

export function startClaimCommentActions(options: ClaimActionsOptions): ActionClaims {
  const claims = new Claims(options);
  const loop = startDueLoop({
    sql: options.sql,
    isDue: (sql) => claims.isDue(sql),
    idleMs: IDLE_MS,
    work: () => claims.pass(),
    onError: (error) =>
      options.logger.warn(
        { err: error },
        "comment actions could not be claimed; claiming is tried again",
      ),
  });
  claims.onFree = loop.nudge;
  return {
    nudge: loop.nudge,
    claimAgeMs: loop.lookAgeMs,
    [Symbol.asyncDispose]: () => claims.stop(loop),
  };
}

class Claims {
  onFree: () => void = () => undefined;
  readonly #options: ClaimActionsOptions;
  readonly #context: ActionContext;
  readonly #platforms: readonly string[];
  readonly #stopping = new AbortController();
  readonly #batches = new Set<Promise<void>>();
  #inWork = 0;
  #passedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #thoroughAt = Number.NEGATIVE_INFINITY;

  constructor(options: ClaimActionsOptions) {
    const { comments, privateReplies } = options.connectors;
    this.#options = options;
    this.#platforms = [...new Set([...Object.keys(comments), ...Object.keys(privateReplies)])];
    this.#context = {
      deps: options,
      marker: new CallMarker(options.sql, ACTION_TABLE, ({ id, fence }) => `${id}/${fence}`),
      recorder: createActionRecorder(options),
      stopping: this.#stopping.signal,
    };
  }

  isDue(sql: ISql) {
    return sql`(${nextActionMs(sql, this.#platforms)}) <= 0`;
  }

  /** Returns the milliseconds until the next claim, or true to claim again at once. */
  async pass(): Promise<boolean | number> {
    const { sql, guard } = this.#options;
    const now = performance.now();
    const waitForMoreMs = this.#passedAt + MIN_CLAIM_INTERVAL_MS - now;
    if (this.#inWork > 0 && waitForMoreMs > 0) return Math.ceil(waitForMoreMs);
    this.#passedAt = now;
    const nextMs = await findNextActionMs(sql, this.#platforms);
    if (nextMs === null) return IDLE_MS;
    if (nextMs > 0) return Math.ceil(nextMs);
    if (!(await guard.isOwn())) return POLL_MS;
    await this.#lookForLosses();
    return await this.#claimReady();
  }

  async #claimReady(): Promise<boolean | number> {
    const { sql, owner, settings } = this.#options;
    const maxAccounts = Math.ceil((MAX_IN_WORK - this.#inWork) / MAX_PER_ACCOUNT);
    if (maxAccounts <= 0) return POLL_MS;
    const limits = {
      owner,
      leaseMs: actionLeaseMs(settings),
      platforms: this.#platforms,
      maxAccounts,
      maxPerAccount: MAX_PER_ACCOUNT,
      maxPerPlatform: MAX_PER_PLATFORM,
    };
    const { actions, hasMore } = await sql.begin((tx) => claimActions(tx, limits));
    if (actions.length > 0) this.#work(actions);
    return hasMore || POLL_MS;
  }

  #work(actions: readonly ClaimedAction[]): void {
    this.#inWork += actions.length;
    const batch = workActions(this.#context, actions, () => {
      this.#inWork -= 1;
      this.onFree();
    }).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  async #lookForLosses(): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    const { sql, settings } = this.#options;
    const lost = await listLostCalls(sql, ACTION_TABLE, MAX_LOSSES);
    await Promise.all(
      lost.map(({ cause, ...call }) =>
        inWorkContext([{ cause }], () =>
          this.#context.recorder.record({ kind: "call_lost", ...call }),
        ),
      ),
    );
    const isThorough = now - this.#thoroughAt >= THOROUGH_LOOK_MS;
    await doubtCalls(sql, ACTION_TABLE, settings.visibleCallMs, isThorough);
    await endOldActions(this.#options);
    if (isThorough) this.#thoroughAt = now;
  }

  async stop(loop: AsyncDisposable): Promise<void> {
    // First, the stop signal is aborted, so that no further platform call begins. The current pass
    // of the loop may still claim actions and then releases them.
    this.#stopping.abort();
    await loop[Symbol.asyncDispose]();
    const waitMs = this.#options.settings.visibleCallMs + CALL_MARGIN_MS;
    await settleWithin(this.#batches, waitMs);
    await this.#context.recorder.drain();
  }
}

async function endOldActions({
  sql,
  onEvents,
}: Pick<EngagementDeps, "sql" | "onEvents">): Promise<void> {
  const ended = await sql.begin(async (tx) => {
    const old = await endOldVisibility(tx);
    await appendEnds(tx, old);
    return old;
  });
  if (ended.length > 0) onEvents();
  for (const action of ended) countEnd(action);
}
