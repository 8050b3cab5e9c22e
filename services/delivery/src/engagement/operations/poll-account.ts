import { isPlatformId } from "@postrider/platforms/platform-id";
import { readClock } from "@postrider/shared/postgres/clock";
import {
  releaseAccount,
  type PolledAccount,
  type PollEnd,
} from "#src/engagement/db/automation-accounts.ts";
import { listWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { listRulesOfAccount } from "#src/engagement/db/automation-rules.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import { chooseReads, type MediaRead } from "#src/engagement/domain/choose-reads.ts";
import { failureWaitMs } from "#src/engagement/domain/media-watch.ts";
import type { AutomationDeps } from "./automation-dependencies.ts";
import { pollsTotal } from "./automation-metrics.ts";
import { listAccountMedia } from "./list-account-media.ts";
import { PlatformCalls } from "./platform-calls.ts";
import { PollCalls } from "./poll-calls.ts";
import { toPollFailure, type PollFailure } from "./poll-failure.ts";
import type { Poll } from "./poll.ts";
import { readMediaComments } from "./read-media-comments.ts";

/** Maximum number of pages of comments that one poll of an account reads, so that one account cannot use up its platform's budget. */
const MAX_PAGES = 20;
/** Maximum number of media in a row whose comments cannot be read, after which a poll ends: the platform seems to be down. */
const MAX_FAILED = 3;

type PollResult =
  | {
      readonly kind: "read";
      readonly mediaCursor: string | null;
      /** Milliseconds until another call may be made for the account. */
      readonly unitWaitMs: number;
    }
  | { readonly kind: "idle" }
  | { readonly kind: "lost" }
  | PollFailure;

/** Looks for new comments of an account, creates the runs of its automation rules, and stores when to look again. */
export async function pollAccount(deps: AutomationDeps, account: PolledAccount): Promise<void> {
  const result = await tryPoll(deps, account);
  pollsTotal.inc({ platform: account.platform, outcome: outcomeOf(result) });
  if (result.kind === "lost") return;
  await deps.sql.begin((tx) => releaseAccount(tx, account, endOf(deps, account, result)));
  if (result.kind !== "failed") return;
  const { accountId, platform } = account;
  const { kind: _, ...failure } = result;
  deps.logger.info(
    { accountId, platform, ...failure },
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
    const bucket = toBucket({ budget: privateReplies.pollBudget, maxPosts: 1 });
    const platformCalls = await PlatformCalls.open(deps, account, leaseMs / 2);
    const calls = new PollCalls(deps.sql, account, platformCalls, { bucket, leaseMs });
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
  const listed = await listAccountMedia(calls, privateReplies, rules, account.mediaCursor);
  if (listed.kind === "lost") return { kind: "lost" };
  if (listed.kind === "exhausted") return endRead(calls, account.mediaCursor);
  if (listed.kind !== "listed") return toPollFailure(listed);
  const ids = listed.media.map(({ id }) => id);
  const known = await listWatchedMedia(deps.sql, account, ids);
  const reads = chooseReads(rules, listed.media, { known, now: await readClock(deps.sql) });
  const stop = await readAll(poll, reads);
  return stop ?? endRead(calls, listed.mediaCursor);
}

/** Reads the comments on media one after the other. Returns why the whole poll must end early; undefined if it need not. */
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
    // After a rate limit or another failure that concerns the whole account, the platform would refuse the further calls too.
    const { failure } = result;
    if (failure.cause !== "failed" || failed === MAX_FAILED) return failure;
  }
  return undefined;
}

function endRead({ unitWaitMs }: PollCalls, mediaCursor: string | null): PollResult {
  return { kind: "read", mediaCursor, unitWaitMs };
}
