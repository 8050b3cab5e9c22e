import type { OwnedMedia } from "@postrider/platforms/private-replies/connector";
import { isPlatformId } from "@postrider/platforms/registry";
import { readClock } from "@postrider/shared/postgres/clock";
import {
  releaseAccount,
  type PolledAccount,
  type PollEnd,
} from "#src/engagement/db/automation-accounts.ts";
import { listWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { listRulesOfAccount } from "#src/engagement/db/automation-rules.ts";
import { oldestActivationOf, readsMedia } from "#src/engagement/domain/automation-rule.ts";
import {
  failureWaitMs,
  hasNewCount,
  isReadDue,
  newMedia,
} from "#src/engagement/domain/media-watch.ts";
import type { AutomationDeps } from "./automation-dependencies.ts";
import { pollsTotal } from "./automation-metrics.ts";
import { listAccountMedia } from "./list-account-media.ts";
import { PlatformCalls } from "./platform-calls.ts";
import { toPollFailure, type PollFailure } from "./poll-failure.ts";
import type { MediaRead, Poll } from "./poll.ts";
import { readMediaComments } from "./read-media-comments.ts";

/** Maximum number of pages of comments that one poll of an account reads, so that one account cannot use up its platform's budget. */
const MAX_PAGES = 20;
/** Maximum number of media per poll that are read although their number of comments has not changed. */
const MAX_UNCHANGED = 5;

type PollResult =
  | { readonly kind: "read"; readonly mediaCursor: string | null }
  | { readonly kind: "idle" }
  | { readonly kind: "lost" }
  | PollFailure;

/** Looks for new comments of an account, creates the runs of its rules, and stores when to look again. */
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
    const cursor = result.kind === "read" ? result.mediaCursor : null;
    return { waitMs: pollMs, failures: 0, error: null, mediaCursor: cursor };
  }
  const waitMs = failureWaitMs(failures + 1, { pollMs, ...result });
  return { waitMs, failures: failures + 1, error: result.error, mediaCursor };
}

async function tryPoll(deps: AutomationDeps, account: PolledAccount): Promise<PollResult> {
  const { platform, accountId } = account;
  const rules = await listRulesOfAccount(deps.sql, accountId);
  if (rules.length === 0 || !isPlatformId(platform)) return { kind: "idle" };
  const comments = deps.connectors.comments[platform];
  const privateReplies = deps.connectors.privateReplies[platform];
  if (comments === undefined || privateReplies === undefined) return { kind: "idle" };
  try {
    const calls = await PlatformCalls.open(deps, account, deps.settings.leaseMs / 2);
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
  const { calls, privateReplies, rules, account } = poll;
  const listed = await listAccountMedia(calls, privateReplies, rules, account.mediaCursor);
  if (listed.kind !== "listed") return toPollFailure(listed);
  const reads = await chooseReads(poll, listed.media);
  let pagesLeft = MAX_PAGES;
  let failure: PollFailure | undefined;
  let isAnyRead = false;
  for (const read of reads) {
    if (pagesLeft <= 0) break;
    const result = await readMediaComments(poll, read, pagesLeft);
    if (result.kind === "lost") return result;
    pagesLeft -= result.pages;
    if (result.kind === "read") isAnyRead = true;
    else failure = result.failure;
    // After a limit or a refusal of the whole account, further calls would only be refused too.
    if (failure !== undefined && failure.cause !== "failed") return failure;
  }
  return failure === undefined || isAnyRead
    ? { kind: "read", mediaCursor: listed.mediaCursor }
    : failure;
}

/**
 * Returns the media whose comments are to be read: first those whose number of comments has changed or whose read has not ended,
 * newest first, then some that have not been read for long.
 */
async function chooseReads(
  { deps, account, rules }: Poll,
  listed: readonly OwnedMedia[],
): Promise<readonly MediaRead[]> {
  const now = await readClock(deps.sql);
  const oldestActivation = oldestActivationOf(rules);
  const ids = listed.map(({ id }) => id);
  const known = await listWatchedMedia(deps.sql, account.accountId, ids);
  const byId = new Map(known.map((media) => [media.mediaId, media]));
  const due = listed
    .filter(({ id }) => rules.some((rule) => readsMedia(rule, id)))
    .filter(({ id, commentCount }) => byId.has(id) || commentCount !== 0)
    .map((seen) => {
      const media = byId.get(seen.id) ?? newMedia(seen, { now, oldestActivation });
      const isChanged = media.readCursor !== null || hasNewCount(media, seen);
      const isDue = isReadDue(media, seen, now);
      return { media, commentCount: seen.commentCount, isChanged, isDue };
    })
    .filter(({ isDue }) => isDue);
  const unchanged = due
    .filter(({ isChanged }) => !isChanged)
    .toSorted((a, b) => a.media.readAt.getTime() - b.media.readAt.getTime());
  return [...due.filter(({ isChanged }) => isChanged), ...unchanged.slice(0, MAX_UNCHANGED)];
}
