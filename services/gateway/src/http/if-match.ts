/** Which versions a request accepts: any that exists, or one of the list, which may be empty. */
export type IfMatch = "any" | readonly bigint[];

const ENTITY_TAG = /^(?<weak>W\/)?"(?<value>[\x21\x23-\x7e\x80-\xff]*)"$/;
/** Splits at the commas between tags, not at those inside of one. */
const LIST_ITEM = /(?:"[^"]*"|[^",])+/g;
/** As our tags spell versions; 18 digits always fit 64 bits. */
const VERSION = /^[1-9]\d{0,17}$/;

/**
 * The condition of the header `If-Match` (RFC 9110, 13.1.1), undefined without one. Tags are compared strongly, so a
 * weak one names no version, and neither does one that is not ours. A header of another form names none at all: a
 * condition that cannot be read must not be taken for fulfilled.
 */
export function parseIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  const tags = splitList(header)?.map((item) => ENTITY_TAG.exec(item)?.groups);
  if (tags === undefined || tags.includes(undefined)) return [];
  const values = tags.flatMap((tag) => (tag?.["weak"] === undefined ? (tag?.["value"] ?? []) : []));
  return [...new Set(values.filter((value) => VERSION.test(value)))].map(BigInt);
}

/** The items of a list, of which some may be empty (RFC 9110, 5.6.1.2); undefined when it cannot be split. */
function splitList(header: string): string[] | undefined {
  const isComplete = header.replaceAll(LIST_ITEM, "").replaceAll(",", "") === "";
  const items = header.match(LIST_ITEM) ?? [];
  return isComplete ? items.map((item) => item.trim()).filter((item) => item !== "") : undefined;
}
