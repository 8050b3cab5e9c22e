import { LOOKS_AFTER_MS, nextLook } from "./look-schedule.ts";
import type { Publication } from "./publication.ts";
import type { UnknownCall, Verdict } from "./verdict.ts";

/** Maximum difference between our clock and a platform's, and the precision of the platform's timestamps. */
const CLOCK_TOLERANCE_MS = 60_000;

/** A post of the account with the text of the publication and as much media. */
export interface MatchingPost {
  readonly id: string;
  readonly permalink: string | null;
}

/** The earliest creation time that a post of this call can carry. */
export function searchStart({ calledAt }: UnknownCall): Date {
  return new Date(calledAt.getTime() - CLOCK_TOLERANCE_MS);
}

/** A text without the differences that platforms introduce: Unicode form and white space. */
export function foldText(text: string | undefined): string {
  return (text ?? "").normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

/**
 * Decides whether one of these posts, the only ones that match, is the publication. A post that another target owns is
 * not. A single remaining post is, because only Postrider publishes that text on the account meanwhile. Several posts, or
 * a publication without text, need a person to decide.
 *
 * @param looksAfterMs When the account's posts have to be read to prove absence; empty = once.
 */
export async function judgeMatchingPosts(
  posts: readonly MatchingPost[],
  { text }: Pick<Publication, "text">,
  call: UnknownCall,
  looksAfterMs: readonly number[] = LOOKS_AFTER_MS,
): Promise<Verdict> {
  const owned = await call.isOwned(posts.map(({ id }) => id));
  const [post, ...others] = posts.filter(({ id }) => !owned.has(id));
  if (post === undefined) return nextLook(call, looksAfterMs) ?? { kind: "absent" };
  if (others.length > 0 || text.trim() === "")
    return { kind: "cannot_tell", message: "several posts match the publication" };
  return { kind: "present", externalId: post.id, permalink: post.permalink };
}
