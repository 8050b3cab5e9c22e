import type { CommentPage } from "@postrider/platforms/comments/connector";
import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { keepLease, type PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import { upsertWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { listRulesOfAccount } from "#src/engagement/db/automation-rules.ts";
import { insertRuns, listKnownRuns } from "#src/engagement/db/automation-runs.ts";
import { findSendingSince } from "#src/engagement/db/automation-sending.ts";
import { listAnswered } from "#src/engagement/db/private-replies.ts";
import { type AutomationRule, oldestActivationOf } from "#src/engagement/domain/automation-rule.ts";
import {
  afterFailure,
  afterPage,
  type MediaRead,
  readFloor,
  type WatchedMedia,
} from "#src/engagement/domain/media-watch.ts";
import {
  type PlanContext,
  type PlannedRun,
  planRuns,
  runKey,
} from "#src/engagement/domain/plan-runs.ts";
import { toStorableComment } from "#src/engagement/domain/text.ts";
import { commentsRead, countRuns } from "#src/engagement/jobs/poll-comments/poll.ts";
import type { AutomationDeps } from "#src/engagement/operations/dependencies.ts";
import { keepComments } from "#src/engagement/operations/inbox.ts";
import { insertPrivateReplies } from "#src/engagement/operations/insert-actions.ts";
import { matchComments } from "#src/engagement/operations/match-comments.ts";
import { type NotCalled, type Poll, type PollFailure, toMediaFailure } from "./poll.ts";

const PAGE_SIZE = 50;

type MediaResult =
  /** All new comments, or `maxPages` pages of them. */
  | { readonly kind: "read"; readonly pages: number }
  | { readonly kind: "failed"; readonly pages: number; readonly failure: PollFailure }
  | NotCalled;

/**
 * Reads the comments on a piece of media from the newest back to the known ones, and creates the
 * automation rules' runs for each page before the next page is read. A read that has not ended
 * after `maxPages` pages continues with the next poll.
 */
export async function readMediaComments(
  poll: Poll,
  { media: first, commentCount: seenCount }: MediaRead,
  maxPages: number,
): Promise<MediaResult> {
  const floor = readFloor(first, oldestActivationOf(poll.rules));
  // The number of comments that is stored must be the one that the platform gave when the read
  // began. If the read began in an earlier poll, that number is unknown: null is stored, so that
  // the next poll reads the comments that were written since.
  const commentCount = first.readCursor === null ? seenCount : null;
  let media = first;
  for (let pages = 1; pages <= maxPages; pages++) {
    const result = await readNextPage(poll, media, { floor, commentCount });
    if (result.kind === "failed") {
      const { failure, isRefused } = result;
      const { cause, error } = failure;
      if (cause === "failed") await storeFailure(poll, media, { isRefused, error });
      return { kind: "failed", failure, pages };
    }
    if (result.kind !== "recorded") return result;
    media = result.media;
    if (media.readCursor === null) return { kind: "read", pages };
  }
  return { kind: "read", pages: maxPages };
}

/** Only this media waits before the next read. */
async function storeFailure(
  { deps, account }: Poll,
  media: WatchedMedia,
  { isRefused, error }: { readonly isRefused: boolean; readonly error: string },
): Promise<void> {
  const { leaseMs, commentPollMs: pollMs } = deps.settings;
  await deps.sql.begin(async (tx) => {
    const now = await keepLease(tx, account, leaseMs);
    if (now === undefined) return;
    await upsertWatchedMedia(tx, account, afterFailure(media, { isRefused, error, pollMs, now }));
  });
}

type PageResult =
  | { readonly kind: "recorded"; readonly media: WatchedMedia }
  | {
      readonly kind: "failed";
      readonly failure: PollFailure;
      /** Whether the platform would refuse the same call again. */
      readonly isRefused: boolean;
    }
  | NotCalled;

async function readNextPage(
  poll: Poll,
  media: WatchedMedia,
  read: { readonly floor: Date; readonly commentCount: number | null },
): Promise<PageResult> {
  const { deps, account, privateReplies, rules } = poll;
  const page = await readPage(poll, media.mediaId, media.readCursor ?? undefined);
  if (page.kind === "lost" || page.kind === "exhausted") return page;
  // If the first page of a read is missing, the media does not exist and so has no comments. If a
  // later page is missing, the read has failed.
  const isGone = page.kind === "missing" && media.readCursor === null;
  if (page.kind !== "page" && !isGone)
    return { kind: "failed", failure: toMediaFailure(page), isRefused: page.kind !== "retryable" };
  const polled = {
    ...read,
    page: page.kind === "page" ? page : EMPTY,
    media,
    rules,
    windowMs: privateReplies.windowMs,
  };
  try {
    const recorded = await recordComments(deps, account, polled);
    return recorded === undefined ? { kind: "lost" } : { kind: "recorded", media: recorded };
  } catch (error) {
    const { accountId } = account;
    deps.logger.warn(
      { err: error, accountId, mediaId: media.mediaId },
      "comments on a post could not be stored because of an unexpected error; they are read again later",
    );
    const failure = { kind: "failed", cause: "failed", error: "internal_error" } as const;
    return { kind: "failed", failure, isRefused: false };
  }
}

const EMPTY = { kind: "page", comments: [], next: undefined } as const;

async function readPage(
  { calls, comments, account, privateReplies }: Poll,
  mediaId: string,
  after?: string,
) {
  const query = { mediaId, limit: PAGE_SIZE, after };
  const page = await calls.make(privateReplies.pollBudget.unitsPerPage, (access, signal) =>
    comments.listComments(access, query, signal),
  );
  if (page.kind !== "page") return page;
  commentsRead.inc({ platform: account.platform }, page.comments.length);
  const others = page.comments.filter(({ isOwn }) => !isOwn).map(toStorableComment);
  const once = new Map(others.map((comment) => [comment.id, comment]));
  return { ...page, comments: [...once.values()] };
}

interface PolledPage {
  readonly page: CommentPage;
  readonly media: WatchedMedia;
  readonly commentCount: number | null;
  readonly floor: Date;
  /** Active before the page of comments was read. */
  readonly rules: readonly AutomationRule[];
  readonly windowMs: number;
}

/**
 * Stores in one transaction the comments on a page, the rules' runs for them, the private replies,
 * and how far the comments are read. Returns undefined if another process polls the account now.
 */
async function recordComments(
  { sql, settings, onActions, onEvents }: AutomationDeps,
  account: PolledAccount,
  polled: PolledPage,
): Promise<WatchedMedia | undefined> {
  const { page, media, commentCount, floor } = polled;
  const recorded = await sql.begin(async (tx) => {
    const now = await keepLease(tx, account, settings.leaseMs);
    if (now === undefined) return undefined;
    const read = { times: page.comments.map(({ createdAt }) => createdAt), next: page.next };
    const pollMs = settings.commentPollMs;
    const next = afterPage(media, read, { floor, commentCount, pollMs, now });
    await upsertWatchedMedia(tx, account, next);
    const sendingSince = settings.isSendingEnabled ? await findSendingSince(tx) : null;
    const runs = await plan(tx, account, polled, { now, sendingSince });
    const added = await keepComments(tx, { ...account, ...media }, page.comments, settings);
    await insertPlanned(tx, account, media.mediaId, runs);
    return { next, runs, added };
  });
  if (recorded === undefined) return undefined;
  countRuns(recorded.runs);
  if (recorded.runs.some((run) => run.plan.kind === "send")) onActions();
  if (recorded.added > 0 || recorded.runs.some((run) => run.plan.kind !== "send")) onEvents();
  return recorded.next;
}

async function plan(
  tx: TransactionSql,
  account: PolledAccount,
  { page, media, rules: before, windowMs }: PolledPage,
  { now, sendingSince }: { readonly now: Date; readonly sendingSince: Date | null },
): Promise<readonly PlannedRun[]> {
  const earlierIds = before.map(({ id }) => id);
  const rules = await listRulesOfAccount(tx, account, earlierIds);
  const context: PlanContext = {
    mediaId: media.mediaId,
    now,
    windowMs,
    sendingSince,
    answeredIds: new Set(),
    knownRuns: new Set(),
  };
  const match = await matchComments(rules, page.comments);
  const matched = planRuns(rules, page.comments, context, match);
  if (matched.length === 0) return [];
  const ids = [...new Set(matched.map(({ comment }) => comment.id))];
  const answeredIds = await listAnswered(tx, account, ids);
  const ruleIds = rules.map(({ id }) => id);
  const { workspaceId } = account;
  const known = await listKnownRuns(tx, { workspaceId, ruleIds, commentIds: ids });
  const knownRuns = new Set(known.map(({ ruleId, commentId }) => runKey(ruleId, commentId)));
  return planRuns(rules, page.comments, { ...context, answeredIds, knownRuns }, match);
}

async function insertPlanned(
  tx: TransactionSql,
  { workspaceId, accountId, platform }: PolledAccount,
  mediaId: string,
  planned: readonly PlannedRun[],
): Promise<void> {
  const runs = planned.map((run) => ({ ...run, id: newId() }));
  const base = { workspaceId, accountId, mediaId };
  await insertRuns(
    tx,
    runs.map(({ id, rule, comment, plan: { kind, ...rest } }) => ({
      ...base,
      id,
      ruleId: rule.id,
      commentId: comment.id,
      authorId: comment.authorId,
      authorUsername: comment.authorUsername,
      status: kind === "send" ? ("prepared" as const) : kind,
      reason: "reason" in rest ? rest.reason : null,
    })),
  );
  const replies = runs.flatMap(({ id: runId, rule, comment, plan: decided }) => {
    if (decided.kind !== "send") return [];
    const { sendBefore } = decided;
    const reply = { ruleId: rule.id, runId, commentId: comment.id, text: rule.message, sendBefore };
    return [{ ...base, ...reply, id: newId(), platform }];
  });
  const stored = await insertPrivateReplies(tx, replies);
  // While the account is locked, only this transaction stores private replies, and it has left out
  // the comments that have one. So all of these replies must be stored.
  if (stored.size !== replies.length)
    throw new Error("a comment got a second private reply; the page is read again");
}
