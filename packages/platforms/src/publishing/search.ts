import { LOOKS_AFTER_MS, nextLook, repeatLook } from "./look-schedule.ts";
import type { Publication } from "./publication.ts";
import { cannotTell, type PostWords, present, type UnknownCall, type Verdict } from "./verdict.ts";

/**
 * A page of a list on a platform. `next` is undefined on the last page, and null when there are
 * more pages that cannot be requested.
 */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next: string | null | undefined;
}

/**
 * Ends a list, whose newest entries are first, before the first entry that is too old. An entry
 * whose time cannot be read stays in the list, because it may be the post that is searched for.
 */
export function endAt<Entry>(
  { entries, next }: Page<Entry>,
  isTooOld: (entry: Entry) => boolean,
): Page<Entry> {
  const recent = entries.filter((entry) => !isTooOld(entry));
  return { entries: recent, next: recent.length < entries.length ? undefined : next };
}

/**
 * Reads a list that may contain what an unknown call published. Only the whole list can prove that
 * it is absent, so the result is a verdict when a page cannot be read, and a further search when
 * the list has more pages than are read.
 */
export async function readWholeList<Entry>(
  call: UnknownCall,
  maxPages: number,
  readPage: (after: string | undefined) => Promise<Page<Entry> | Verdict>,
): Promise<{ readonly entries: readonly Entry[] } | Verdict> {
  const entries: Entry[] = [];
  let after: string | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const page = await readPage(after);
    if ("kind" in page) return page;
    entries.push(...page.entries);
    if (page.next === undefined) return { entries };
    if (page.next === null) break;
    after = page.next;
  }
  return repeatLook(call);
}

/**
 * Between a platform's clock and ours (those of the database and of the processes). If our clock
 * were further ahead, a search would miss posts that exist. A search can also find posts from
 * before the publishing call; `isOwned` tells which belong to other Postrider posts.
 */
export const CLOCK_TOLERANCE_MS = 15 * 60_000;

export interface MatchingPost {
  readonly id: string;
  readonly permalink: string | null;
  /**
   * An id that only this publication used: of a file that was uploaded for it, of its prepared post
   * or of its record.
   */
  readonly isProven?: boolean;
  /** See `UnknownCall.hasSimilarPost`. */
  readonly isSimilar?: (words: PostWords) => boolean;
}

/** The post may also be another Postrider post with the same text. */
export const SIMILAR_POST = cannotTell(
  "another post of the account with the same text and other media has an unknown outcome",
);

const NAMELESS_POST = cannotTell(
  "the platform has not returned the id of another post of the account yet, which may be the found one",
);

export function searchStart({ calledAt }: UnknownCall): Date {
  return new Date(calledAt.getTime() - CLOCK_TOLERANCE_MS);
}

/**
 * Decides whether one of the matching posts on the platform is the published post. A post whose id
 * or file ids belong to this publication alone is the published post, even if it is stored as
 * another Postrider post by mistake. Of the remaining posts, those that are stored as another
 * Postrider post are ignored. If exactly one post is left, it is the published post, because only
 * Postrider publishes that text on the account during this time. If several are left, or the
 * publication has no text, a person must decide. While the id of another published post is not
 * known, the found post may be that one, so the search is repeated.
 *
 * @param looksAfterMs Times at which the account's posts must be read to prove that the post is
 *   absent, in milliseconds after `callUntil`; empty = one read is enough.
 */
export async function judgeMatchingPosts(
  posts: readonly MatchingPost[],
  { text }: Pick<Publication, "text">,
  call: UnknownCall,
  looksAfterMs: readonly number[] = LOOKS_AFTER_MS,
): Promise<Verdict> {
  const proven = posts.find(({ isProven }) => isProven === true);
  if (proven !== undefined) return present(proven.id, proven.permalink);
  const owned = await call.isOwned(posts.map(({ id }) => id));
  const [post, ...others] = posts.filter(({ id }) => !owned.has(id));
  if (post === undefined) return nextLook(call, looksAfterMs) ?? { kind: "absent" };
  if (others.length > 0 || text.trim() === "")
    return cannotTell("several posts match the publication");
  return await adopt(post, call, looksAfterMs);
}

/** Unless the post may be another Postrider post, whose id is not known yet. */
async function adopt(
  post: MatchingPost,
  call: UnknownCall,
  looksAfterMs: readonly number[],
): Promise<Verdict> {
  if (await call.hasSimilarPost(post.isSimilar)) return SIMILAR_POST;
  if (await call.hasPostWithoutId()) return nextLook(call, looksAfterMs) ?? NAMELESS_POST;
  // What was uncertain or nameless before these questions may have become known during them.
  const isTaken = (await call.isOwned([post.id])).has(post.id);
  return isTaken ? repeatLook(call) : present(post.id, post.permalink);
}
