import type { Publication, UnknownCall, Verdict } from "./connector.ts";

const MINUTE_MS = 60_000;
/** Posts may show up late: absence counts as proved after complete reads at these times after `callUntil`. */
export const LOOKS_AFTER_MS: readonly number[] = [MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];
const MIN_WAIT_MS = 10;

/** A post of the account that says what the publication says, and shows as much. */
export interface Twin {
  readonly id: string;
  readonly permalink: string | null;
}

/** What was published could not be read to the end, which proves nothing. */
export function lookAgain({ timeScale }: UnknownCall): Verdict {
  return { kind: "look_again", afterMs: MINUTE_MS * timeScale, isIncomplete: true };
}

/**
 * What it means that these posts, and no others, may be the publication. One that another target owns is not; a single one
 * that says the same words is, because nobody else publishes them on the account meanwhile. Without words, or with
 * several, a person has to look.
 *
 * @param looksAfterMs When the account's posts have to be read to prove the absence of a twin; empty = once.
 */
export async function judgeTwins(
  twins: readonly Twin[],
  { text }: Pick<Publication, "text">,
  call: UnknownCall,
  looksAfterMs: readonly number[],
): Promise<Verdict> {
  const owned = await call.isOwned(twins.map(({ id }) => id));
  const [twin, ...others] = twins.filter(({ id }) => !owned.has(id));
  if (twin === undefined) return nextLook(call, looksAfterMs);
  if (others.length > 0 || text.trim() === "")
    return { kind: "cannot_tell", message: "several posts may be the one" };
  return { kind: "present", externalId: twin.id, permalink: twin.permalink };
}

function nextLook(call: UnknownCall, looksAfterMs: readonly number[]): Verdict {
  const { now, callUntil, looks, timeScale } = call;
  const sinceMs = now.getTime() - callUntil.getTime();
  const atMs = looksAfterMs[Math.min(looks, looksAfterMs.length - 1)] ?? 0;
  if (looks >= looksAfterMs.length && sinceMs >= atMs * timeScale) return { kind: "absent" };
  return { kind: "look_again", afterMs: Math.max(MIN_WAIT_MS, atMs * timeScale - sinceMs) };
}
