import { oldestActivationOf } from "#src/engagement/domain/automation-rule.ts";
import { readFloor, type WatchedMedia } from "#src/engagement/domain/media-watch.ts";
import { isOwnComment } from "#src/engagement/domain/plan-runs.ts";
import { toStorableComment } from "#src/engagement/domain/storable-comment.ts";
import { commentsRead } from "./automation-metrics.ts";
import { toPollFailure, type PollFailure } from "./poll-failure.ts";
import type { MediaRead, Poll } from "./poll.ts";
import { recordComments } from "./record-comments.ts";

/** Maximum number of comments per page. */
const PAGE_SIZE = 50;

type MediaResult =
  /** The comments were read as far as they are new, or `maxPages` pages of them. */
  | { readonly kind: "read"; readonly pages: number }
  | { readonly kind: "failed"; readonly pages: number; readonly failure: PollFailure }
  /** Another process polls the account by now. */
  | { readonly kind: "lost" };

/**
 * Reads the comments on a piece of media from the newest back to what is known, and creates the runs of each page before the next
 * page is read. A read that has not ended after `maxPages` pages continues with the next poll.
 */
export async function readMediaComments(
  poll: Poll,
  { media: first, commentCount: seenCount }: MediaRead,
  maxPages: number,
): Promise<MediaResult> {
  const floor = readFloor(first, oldestActivationOf(poll.rules));
  // The number of comments belongs to the beginning of a read. If that was in an earlier poll, the number is not known, and the
  // next poll reads the comments that were written since.
  const commentCount = first.readCursor === null ? seenCount : null;
  let media = first;
  for (let pages = 1; pages <= maxPages; pages++) {
    const result = await readNextPage(poll, media, { floor, commentCount });
    if (result.kind === "failed") return { ...result, pages };
    if (result.kind === "lost") return result;
    media = result.media;
    if (media.readCursor === null) return { kind: "read", pages };
  }
  return { kind: "read", pages: maxPages };
}

type PageResult =
  | { readonly kind: "recorded"; readonly media: WatchedMedia }
  | { readonly kind: "failed"; readonly failure: PollFailure }
  | { readonly kind: "lost" };

async function readNextPage(
  poll: Poll,
  media: WatchedMedia,
  read: { readonly floor: Date; readonly commentCount: number | null },
): Promise<PageResult> {
  const { deps, account, privateReplies, rules } = poll;
  const page = await readPage(poll, media.mediaId, media.readCursor ?? undefined);
  // A cursor that the platform no longer knows: this read ends, and the next poll begins anew at the newest comment.
  const isCursorRefused = page.kind === "refused" && media.readCursor !== null;
  if (page.kind !== "page" && page.kind !== "missing" && !isCursorRefused)
    return { kind: "failed", failure: toPollFailure(page) };
  const recorded = await recordComments(deps, account, {
    ...read,
    page: page.kind === "page" ? page : EMPTY,
    // Nothing is known to be read if the read did not end.
    media: isCursorRefused ? { ...media, readNewest: null } : media,
    ...(isCursorRefused ? { commentCount: null } : {}),
    rules,
    windowMs: privateReplies.windowMs,
  });
  return recorded === undefined ? { kind: "lost" } : { kind: "recorded", media: recorded };
}

const EMPTY = { kind: "page", comments: [], next: undefined } as const;

async function readPage({ calls, comments, account }: Poll, mediaId: string, after?: string) {
  const query = { mediaId, limit: PAGE_SIZE, after };
  const page = await calls.make((access, signal) => comments.listComments(access, query, signal));
  if (page.kind !== "page") return page;
  commentsRead.inc({ platform: account.platform }, page.comments.length);
  const others = page.comments.filter((comment) => !isOwnComment(comment, calls.identity));
  return { ...page, comments: others.map(toStorableComment) };
}
