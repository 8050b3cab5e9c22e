import { createHash } from "node:crypto";

/** Weak ETags match as well (RFC 9110, section 13.1.2). */
export function matchesAny(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const named = header.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return named.includes("*") || named.includes(tag);
}

/**
 * The post versions that an `If-Match` header accepts: any version, or the versions of a list,
 * which may be empty.
 */
export type IfMatch = "any" | readonly bigint[];

const ENTITY_TAG = /^(?<weak>W\/)?"(?<value>[\x21\x23-\x7e\x80-\xff]*)"$/;
/** Matches one tag of an `If-Match` list. A comma inside of quotes belongs to the tag. */
const LIST_ITEM = /(?:"[^"]*"|[^",])+/g;
/**
 * Matches an ETag of a post: its version, and a hash if its media were described after the post was
 * accepted. 18 digits always fit into 64 bits.
 */
const TAG = /^(?<version>[1-9]\d{0,17})(?:\.[\w-]{11})?$/;

/**
 * Parses the header `If-Match` (RFC 9110, 13.1.1). Returns undefined without the header. Tags are
 * compared strongly: weak tags match no version, and neither do tags that the API never issued. A
 * malformed header matches no version, because a condition that cannot be read must not count as
 * fulfilled.
 */
export function parseIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  const tags = splitList(header)?.map((item) => ENTITY_TAG.exec(item)?.groups);
  if (tags === undefined || tags.includes(undefined)) return [];
  const values = tags.flatMap((tag) => (tag?.["weak"] === undefined ? (tag?.["value"] ?? []) : []));
  const versions = values.flatMap((value) => TAG.exec(value)?.groups?.["version"] ?? []);
  return [...new Set(versions)].map(BigInt);
}

/**
 * Whether the header is not a list of ETags, for example because the quotes of an ETag are missing.
 */
export function isMalformedIfMatch(header: string): boolean {
  if (header.trim() === "*") return false;
  return splitList(header)?.every((item) => ENTITY_TAG.test(item)) !== true;
}

/** RFC 9110, 5.6.1.2, without empty items. Returns undefined when the list is malformed. */
function splitList(header: string): string[] | undefined {
  const isComplete = header.replaceAll(LIST_ITEM, "").replaceAll(",", "") === "";
  const items = header.match(LIST_ITEM) ?? [];
  return isComplete ? items.map((item) => item.trim()).filter((item) => item !== "") : undefined;
}

/** Number of bytes of the hash in an ETag: enough that two answers never share one by chance. */
const TAG_BYTES = 16;

/** Returns the weak ETag of an answer, which is the same for the same body. */
export function toWeakTag(payload: string): string {
  const hash = createHash("sha256").update(payload).digest().subarray(0, TAG_BYTES);
  return `W/"${hash.toString("base64url")}"`;
}
