import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { readClock } from "@postrider/shared/postgres/clock";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { failpoint } from "@postrider/shared/process/failpoints";
import {
  type PolledAccount,
  type PollEnd,
  releaseAccount,
} from "#src/engagement/db/automation-accounts.ts";
import { claimAccounts, isAccountDue } from "#src/engagement/db/automation-claims.ts";
import { listWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { listRulesOfAccount } from "#src/engagement/db/automation-rules.ts";
import { storeSending } from "#src/engagement/db/automation-sending.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import { chooseReads, failureWaitMs, type MediaRead } from "#src/engagement/domain/media-watch.ts";
import { listAccountMedia } from "#src/engagement/jobs/poll-comments/list-account-media.ts";
import {
  type Poll,
  PollCalls,
  pollDuration,
  type PollFailure,
  pollLateness,
  pollsTotal,
  sendingEnabled,
  toPollFailure,
} from "#src/engagement/jobs/poll-comments/poll.ts";
import { readMediaComments } from "#src/engagement/jobs/poll-comments/read-media-comments.ts";
import type { AutomationDeps } from "#src/engagement/operations/dependencies.ts";
import { PlatformCalls } from "#src/engagement/operations/platform-calls.ts";

const IDLE_MS = 30_000;
/**
 * Maximum number of accounts of one platform that a process polls at a time, so that no platform
 * delays another.
 */
const MAX_POLLS_PER_PLATFORM = 12;

/** Disposing of it waits for polls in progress. */
interface CommentPolls extends AsyncDisposable {
  readonly nudge: () => void;
  /** Since this process last looked for due accounts without an error. */
  claimAgeMs(): number;
}

export function startPollComments(deps: AutomationDeps): CommentPolls {
  const running = new Map<string, Promise<void>>();
  const counts = new Map<PlatformId, number>();
  const free = (platform: PlatformId) => MAX_POLLS_PER_PLATFORM - (counts.get(platform) ?? 0);
  const begin = (platform: PlatformId, account: PolledAccount): void => {
    counts.set(platform, (counts.get(platform) ?? 0) + 1);
    const key = `${account.accountId} ${account.fence}`;
    const polled = poll(deps, account).finally(() => {
      counts.set(platform, (counts.get(platform) ?? 0) - 1);
      running.delete(key);
      loop.nudge();
    });
    running.set(key, polled);
  };
  const platforms = Object.values(deps.connectors.privateReplies).map(({ platform }) => platform);
  const loop = startDueLoop({
    sql: deps.sql,
    isDue: (sql) => isAccountDue(sql, platforms),
    idleMs: IDLE_MS,
    work: async () => {
      await claimDue(deps, free, begin);
      return false;
    },
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "poll-comments" },
        "accounts could not be claimed for polling new comments; the job tries again",
      ),
  });
  return {
    nudge: loop.nudge,
    claimAgeMs: loop.lookAgeMs,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await Promise.all(running.values());
    },
  };
}

async function claimDue(
  deps: AutomationDeps,
  free: (platform: PlatformId) => number,
  begin: (platform: PlatformId, account: PolledAccount) => void,
): Promise<void> {
  const { sql, guard, settings, connectors } = deps;
  if (!(await guard.isOwn())) return;
  await storeSending(sql, settings.isSendingEnabled);
  sendingEnabled.set(settings.isSendingEnabled ? 1 : 0);
  for (const { platform } of Object.values(connectors.privateReplies)) {
    const limit = free(platform);
    if (limit <= 0) continue;
    const claim = { platform, limit, leaseMs: settings.leaseMs };
    for (const { latenessMs, ...account } of await claimAccounts(sql, claim)) {
      pollLateness.observe(latenessMs / 1000);
      begin(platform, account);
    }
  }
}

async function poll(deps: AutomationDeps, account: PolledAccount): Promise<void> {
  failpoint("delivery.after-poll-claim");
  const startedAt = performance.now();
  try {
    await pollAccount(deps, account);
  } catch (error) {
    const { accountId, platform } = account;
    deps.logger.warn(
      { err: error, accountId, platform },
      "the result of a poll for new comments of an account could not be stored; the account is polled again when the lease of this poll ends",
    );
  }
  const { platform } = account;
  pollDuration.observe({ platform }, (performance.now() - startedAt) / 1000);
}

/** Per poll, so that one account cannot use up its platform's budget. */
const MAX_PAGES = 20;
/**
 * In every fifth poll, older media and one without a new number of comments have their turn: a busy
 * account never has units to spare for them.
 */
const OTHERS_EVERY = 5;
/** Unreadable media in a row, after which the platform seems to be down. */
const MAX_FAILED = 3;

type PollResult =
  | {
      readonly kind: "read";
      readonly mediaCursor: string | null;
      /** Until the account may list its newest media, older ones, and read a page of comments. */
      readonly unitWaitMs: number;
    }
  | { readonly kind: "idle" }
  | { readonly kind: "lost" }
  | PollFailure;

export async function pollAccount(deps: AutomationDeps, account: PolledAccount): Promise<void> {
  const result = await tryPoll(deps, account);
  pollsTotal.inc({ platform: account.platform, outcome: outcomeOf(result) });
  if (result.kind === "lost") return;
  await deps.sql.begin((tx) => releaseAccount(tx, account, endOf(deps, account, result)));
  if (result.kind !== "failed") return;
  const { accountId, platform } = account;
  const { cause: reason, error: code, retryAfterMs: delayMs } = result;
  deps.logger.info(
    { accountId, platform, reason, code, delayMs },
    "new comments of an account could not be read; the account is polled again later",
  );
}

function outcomeOf(result: PollResult): string {
  return result.kind === "failed" ? result.cause : result.kind;
}

function endOf(
  { settings }: AutomationDeps,
  { failures, mediaCursor }: PolledAccount,
  result: Exclude<PollResult, { kind: "lost" }>,
): PollEnd {
  const pollMs = settings.commentPollMs;
  if (result.kind !== "failed") {
    const isRead = result.kind === "read";
    const waitMs = isRead ? Math.max(pollMs, result.unitWaitMs) : pollMs;
    const cursor = isRead ? result.mediaCursor : null;
    return { waitMs, failures: 0, error: null, isLimited: false, mediaCursor: cursor };
  }
  const waitMs = failureWaitMs(failures + 1, { pollMs, ...result });
  const isLimited = result.cause === "limited";
  return { waitMs, failures: failures + 1, error: result.error, isLimited, mediaCursor };
}

async function tryPoll(deps: AutomationDeps, account: PolledAccount): Promise<PollResult> {
  const { platform, accountId } = account;
  const rules = await listRulesOfAccount(deps.sql, account);
  if (rules.length === 0 || !isPlatformId(platform)) return { kind: "idle" };
  const comments = deps.connectors.comments[platform];
  const privateReplies = deps.connectors.privateReplies[platform];
  if (comments === undefined || privateReplies === undefined) return { kind: "idle" };
  try {
    const { leaseMs } = deps.settings;
    const { pollBudget: budget } = privateReplies;
    const limits = {
      bucket: toBucket({ budget, maxPosts: 1 }),
      nextUnits: 2 + budget.unitsPerPage,
    };
    const platformCalls = await PlatformCalls.open(deps, account, leaseMs / 2);
    const calls = new PollCalls(deps.sql, account, platformCalls, { ...limits, leaseMs });
    return await readNewComments({ deps, account, calls, comments, privateReplies, rules });
  } catch (error) {
    deps.logger.warn(
      { err: error, accountId, platform },
      "an unexpected error ended the poll of an account for new comments; the account is polled again later",
    );
    return { kind: "failed", cause: "failed", error: "internal_error" };
  }
}

async function readNewComments(poll: Poll): Promise<PollResult> {
  const { deps, calls, privateReplies, rules, account } = poll;
  const { mediaCursor } = account;
  const isTurnOfOthers = account.fence % OTHERS_EVERY === 0;
  const turn = { mediaCursor, isTurnOfOthers };
  const listed = await listAccountMedia(calls, privateReplies, rules, turn);
  if (listed.kind === "lost") return { kind: "lost" };
  if (listed.kind === "exhausted") return endRead(calls, mediaCursor);
  if (listed.kind !== "listed") return toPollFailure(listed);
  const ids = listed.media.map(({ id }) => id);
  const known = await listWatchedMedia(deps.sql, account, ids);
  const now = await readClock(deps.sql);
  const { commentPollMs: pollMs } = deps.settings;
  const reads = chooseReads(rules, listed.media, { known, now, pollMs, isTurnOfOthers });
  const stop = await readAll(poll, reads);
  return stop ?? endRead(calls, listed.mediaCursor);
}

/** Returns why the whole poll must end early; undefined if it need not. */
async function readAll(
  poll: Poll,
  reads: readonly MediaRead[],
): Promise<PollFailure | { readonly kind: "lost" } | undefined> {
  let pagesLeft = MAX_PAGES;
  let failed = 0;
  for (const read of reads) {
    if (pagesLeft <= 0) return undefined;
    const result = await readMediaComments(poll, read, pagesLeft);
    if (result.kind === "lost") return { kind: "lost" };
    if (result.kind === "exhausted") return undefined;
    pagesLeft -= result.pages;
    failed = result.kind === "failed" ? failed + 1 : 0;
    if (result.kind !== "failed") continue;
    // After a rate limit or another failure that concerns the whole account, the platform would
    // refuse the further calls too.
    const { failure } = result;
    if (failure.cause !== "failed" || failed === MAX_FAILED) return failure;
  }
  return undefined;
}

function endRead({ unitWaitMs }: PollCalls, mediaCursor: string | null): PollResult {
  return { kind: "read", mediaCursor, unitWaitMs };
}
