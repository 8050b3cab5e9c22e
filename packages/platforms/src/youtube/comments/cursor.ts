import type { PlatformComment } from "#src/comments/connector.ts";
import type { PageToken, Status } from "./comment-feed.ts";

/**
 * A position in the merged lists of YouTube comments: the pages to continue with, and the last
 * comment that was returned. YouTube states times in seconds, so the ids of all returned comments
 * of that second are kept too. A comment that was written meanwhile and moves the pages then
 * neither hides nor repeats another comment.
 */
export interface FeedCursor {
  readonly tokens: Readonly<Partial<Record<Status, string | null>>>;
  readonly time: number;
  readonly ids: readonly string[];
}

export const FIRST_PAGE: FeedCursor = {
  tokens: { published: null, heldForReview: null },
  time: Number.MAX_SAFE_INTEGER,
  ids: [],
};

export function parseCursor(after: string | undefined): FeedCursor {
  return after === undefined ? FIRST_PAGE : (JSON.parse(after) as FeedCursor);
}

export function wasReturned({ time, ids }: FeedCursor, comment: PlatformComment): boolean {
  const at = comment.createdAt.getTime();
  return at > time || (at === time && ids.includes(comment.id));
}

export function toCursor(
  before: FeedCursor,
  page: readonly PlatformComment[],
  positions: Readonly<Record<Status, PageToken>>,
): string | undefined {
  const tokens = Object.fromEntries(
    Object.entries(positions).filter(([, token]) => token !== undefined),
  );
  const last = page.at(-1);
  if (Object.keys(tokens).length === 0 || last === undefined) return undefined;
  const time = last.createdAt.getTime();
  const sameSecond = page.filter(({ createdAt }) => createdAt.getTime() === time);
  const ids = [...(before.time === time ? before.ids : []), ...sameSecond.map(({ id }) => id)];
  return JSON.stringify({ tokens, time, ids } satisfies FeedCursor);
}
