import { type GraphMeanings, readGraphError } from "#src/graph-api/failures.ts";
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

export const MEANINGS: GraphMeanings = {
  506: "duplicate_on_platform",
  1366051: "duplicate_on_platform",
  352: "media_rejected",
  1366046: "media_rejected",
  1363040: "media_rejected",
  1363127: "media_rejected",
  1363128: "media_rejected",
  1363129: "media_rejected",
  1390008: "limit",
  1346003: "content_rejected",
  1404006: "account_action_needed",
  1404078: "account_action_needed",
  1404102: "account_action_needed",
  1404112: "account_action_needed",
  1609005: "content_rejected",
  1609008: "content_rejected",
  2061006: "content_rejected",
  1349125: "transient",
  1363047: "transient",
  1609010: "transient",
  4854002: "account_action_needed",
};

/**
 * Facebook's error code for photos that already belong to another post. It occurs when Facebook
 * created a post with these photos, but its answer was lost.
 */
export const PHOTOS_TAKEN = 1_366_051;
/** The error contains the correct offset. */
export const WRONG_OFFSET = 1_363_037;
