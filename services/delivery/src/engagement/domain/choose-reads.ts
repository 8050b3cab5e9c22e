import type { OwnedMedia } from "@postrider/platforms/private-replies/connector";
import { oldestActivationOf, readsMedia, type AutomationRule } from "./automation-rule.ts";
import { hasNewCount, isReadDue, newMedia, type WatchedMedia } from "./media-watch.ts";

/** Media from before the rule's activation that are read for the first time, per poll. */
const MAX_FIRST = 10;
/** Media that are read although their number of comments is unchanged, per poll. */
const MAX_UNCHANGED = 5;

export interface MediaRead {
  readonly media: WatchedMedia;
  readonly commentCount: number | null;
}

/**
 * Returns the media whose comments are to be read: first those whose number of comments has changed
 * or whose read has not ended, newest first, then some media that were never read, then some whose
 * last read is long ago.
 *
 * @param known What is stored about media that were read before.
 */
export function chooseReads(
  rules: readonly AutomationRule[],
  listed: readonly OwnedMedia[],
  { known, now }: { readonly known: readonly WatchedMedia[]; readonly now: Date },
): readonly MediaRead[] {
  const oldestActivation = oldestActivationOf(rules);
  const byId = new Map(known.map((media) => [media.mediaId, media]));
  const due = listed
    .filter(({ id }) => rules.some((rule) => readsMedia(rule, id)))
    .filter(({ id, commentCount }) => byId.has(id) || commentCount !== 0)
    .map((seen) => {
      const isKnown = byId.has(seen.id);
      const media = byId.get(seen.id) ?? newMedia(seen, { oldestActivation });
      const isChanged = media.readCursor !== null || hasNewCount(media, seen);
      const isDue = isReadDue(media, seen, now);
      return { media, commentCount: seen.commentCount, isKnown, isChanged, isDue };
    })
    .filter(({ isDue }) => isDue);
  const unchanged = due
    .filter(({ isChanged }) => !isChanged)
    .toSorted((a, b) => a.media.readAt.getTime() - b.media.readAt.getTime());
  return [
    ...due.filter(({ isChanged }) => isChanged),
    ...unchanged.filter(({ isKnown }) => !isKnown).slice(0, MAX_FIRST),
    ...unchanged.filter(({ isKnown }) => isKnown).slice(0, MAX_UNCHANGED),
  ];
}
