import { readGraphError } from "#src/graph-api/graph-error.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Handles } from "#src/publishing/handles.ts";

/**
 * Facebook's errors about the parameter `link`: a page that Facebook cannot read (1609005), a link
 * to Facebook itself (1609008), and an address that Facebook takes for invalid (2061006). Source:
 * Postiz, facebook provider, 2026-08-21.
 */
const LINK_REFUSALS: ReadonlySet<number | undefined> = new Set([1_609_005, 1_609_008, 2_061_006]);

/**
 * Hosts of Facebook itself, with all hosts below them. Facebook refuses their addresses as the link
 * of a post.
 */
const FACEBOOK_HOST = /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/i;

export function mayBeLink({ hostname }: URL): boolean {
  return !FACEBOOK_HOST.test(hostname);
}

/**
 * Nothing was created then, so the post may be sent again without the link, which its text still
 * contains.
 */
export function isLinkRefused(answer: PlatformAnswer, { link }: Handles): boolean {
  const isRefusal = answer.status >= 400 && answer.status < 500;
  const error = readGraphError(answer);
  const isAboutLink = LINK_REFUSALS.has(error?.subcode) || LINK_REFUSALS.has(error?.code);
  return isRefusal && isAboutLink && link !== WITHOUT_LINK.link;
}

/** All further calls leave the link out. */
export const WITHOUT_LINK = { link: "refused" } as const satisfies Handles;
