/** The versions that a request accepts: any version, or the versions of a list, which may be empty. */
export type IfMatch = "any" | readonly bigint[];

const ENTITY_TAG = /^(?<weak>W\/)?"(?<value>[\x21\x23-\x7e\x80-\xff]*)"$/;
/** Matches one tag of a list; a comma inside of quotes belongs to the tag. */
const LIST_ITEM = /(?:"[^"]*"|[^",])+/g;
/** A version in one of our tags; 18 digits always fit into 64 bits. */
const VERSION = /^[1-9]\d{0,17}$/;

/**
 * The condition of the header `If-Match` (RFC 9110, 13.1.1); undefined without the header. Tags are compared strongly,
 * so that weak tags match no version, and neither do tags that the API never issued. A malformed header matches no
 * version: a condition that cannot be read must not count as fulfilled.
 */
export function parseIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  const tags = splitList(header)?.map((item) => ENTITY_TAG.exec(item)?.groups);
  if (tags === undefined || tags.includes(undefined)) return [];
  const values = tags.flatMap((tag) => (tag?.["weak"] === undefined ? (tag?.["value"] ?? []) : []));
  return [...new Set(values.filter((value) => VERSION.test(value)))].map(BigInt);
}

/** The items of a list without empty ones (RFC 9110, 5.6.1.2); undefined when it is malformed. */
function splitList(header: string): string[] | undefined {
  const isComplete = header.replaceAll(LIST_ITEM, "").replaceAll(",", "") === "";
  const items = header.match(LIST_ITEM) ?? [];
  return isComplete ? items.map((item) => item.trim()).filter((item) => item !== "") : undefined;
}
