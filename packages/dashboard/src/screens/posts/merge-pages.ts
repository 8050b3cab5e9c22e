import type { PostSummary } from "@postrider/client";

/** One page of a list of posts, latest first. */
export interface PostPage {
  readonly posts: readonly PostSummary[];
  readonly nextCursor: string | null;
}

export function timeOf({ scheduledAt, createdAt }: PostSummary): string {
  return scheduledAt ?? createdAt;
}

/** What has been read of the list of each status, and where each goes on. */
export type Lists = Readonly<Record<string, readonly PostPage[]>>;

/**
 * Several lists as one, latest first. The interface has one list for each status; a post of one
 * list may come before all that was read of another, so that posts below the last one of a list
 * that goes on are held back until it has been read further.
 */
export function mergePages(lists: Lists): readonly PostSummary[] {
  const all = Object.values(lists).flatMap((pages) => pages.flatMap(({ posts }) => posts));
  const ends = Object.values(lists).map(endOf);
  const frontier = ends.reduce((latest, end) => (end > latest ? end : latest), "");
  return all
    .filter((post) => timeOf(post) >= frontier)
    .sort((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1));
}

/** The time of the last post that was read; "" for a list that was read to its end. */
function endOf(pages: readonly PostPage[]): string {
  const isOver = (pages.at(-1)?.nextCursor ?? null) === null;
  const last = pages.flatMap(({ posts }) => posts).at(-1);
  return isOver || last === undefined ? "" : timeOf(last);
}
