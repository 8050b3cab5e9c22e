import type { GraphMeanings } from "#src/graph-api/failures.ts";

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
