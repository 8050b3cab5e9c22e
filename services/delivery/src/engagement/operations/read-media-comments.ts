import { keepLease } from "#src/engagement/db/automation-accounts.ts";
import { upsertWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { oldestActivationOf } from "#src/engagement/domain/automation-rule.ts";
import type { MediaRead } from "#src/engagement/domain/choose-reads.ts";
import { afterFailure, readFloor, type WatchedMedia } from "#src/engagement/domain/media-watch.ts";
import { toStorableComment } from "#src/engagement/domain/storable-comment.ts";
import { commentsRead } from "./automation-metrics.ts";
import type { NotCalled } from "./poll-calls.ts";
import { toMediaFailure, type PollFailure } from "./poll-failure.ts";
import type { Poll } from "./poll.ts";
import { recordComments } from "./record-comments.ts";

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
