import { refuseInput } from "#src/bluesky/errors.ts";
import { isRecord } from "#src/http/call.ts";

export const POST_COLLECTION = "app.bsky.feed.post";

const MAX_GRAPHEMES = 300;
const MAX_BYTES = 3000;
const MAX_LANGS = 3;
const MAX_TAGS = 8;
const MAX_TAG_GRAPHEMES = 64;
const MAX_TAG_BYTES = 640;
const DATETIME =
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-](?:0[0-9]|1[0-9]|2[0-3]):\d{2})$/;

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

type Value = Readonly<Record<string, unknown>>;

function invalid(what: string, path: string): never {
  return refuseInput(`Invalid ${POST_COLLECTION} record: ${what} at $.${path}`);
}

/** Counts as readers do: what looks like one character is one. */
export function graphemes(text: string): number {
  let count = 0;
  for (const _segment of SEGMENTER.segment(text)) {
    count += 1;
  }
  return count;
}

function checkText(value: unknown, path: string, maxGraphemes: number, maxBytes: number): void {
  if (typeof value !== "string") {
    return invalid(`expected string value type (got ${typeof value})`, path);
  }
  const bytes = Buffer.byteLength(value, "utf8");
  if (bytes > maxBytes) {
    return invalid(`string too big (maximum ${maxBytes}, got ${bytes})`, path);
  }
  // No text has more graphemes than UTF-16 units, so that most texts need no counting.
  const count = value.length > maxGraphemes ? graphemes(value) : 0;
  if (count > maxGraphemes) {
    invalid(`grapheme too big (maximum ${maxGraphemes}, got ${count})`, path);
  }
}

function checkList(value: unknown, path: string, max: number): readonly unknown[] {
  if (value === undefined) {
    return [];
  }
  if (!Array.isArray(value)) {
    return invalid("expected array value type", path);
  }
  return value.length > max
    ? invalid(`array too big (maximum ${max}, got ${value.length})`, path)
    : value;
}

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function checkFacet(facet: unknown, path: string): void {
  const index = isRecord(facet) ? facet["index"] : undefined;
  const features = isRecord(facet) ? facet["features"] : undefined;
  if (!isRecord(index) || !isOffset(index["byteStart"]) || !isOffset(index["byteEnd"])) {
    invalid("expected byteStart and byteEnd as integers", `${path}.index`);
  }
  if (!Array.isArray(features) || !features.every((one) => isRecord(one) && "$type" in one)) {
    invalid("expected typed features", `${path}.features`);
  }
}

function isStrongRef(value: unknown): boolean {
  return isRecord(value) && typeof value["uri"] === "string" && typeof value["cid"] === "string";
}

function checkReply(reply: unknown): void {
  if (
    reply !== undefined &&
    !(isRecord(reply) && isStrongRef(reply["root"]) && isStrongRef(reply["parent"]))
  ) {
    invalid("expected root and parent as strong references", "reply");
  }
}

function checkEmbed(embed: unknown): void {
  if (embed === undefined) {
    return;
  }
  if (!isRecord(embed) || typeof embed["$type"] !== "string") {
    return invalid("expected a typed object", "embed");
  }
  if (embed["$type"] === "app.bsky.embed.images") {
    checkList(embed["images"], "embed.images", 4);
  }
}

/** Checks a post against its lexicon. Fields that the lexicon does not name are allowed, as everywhere on this network. */
export function checkPostRecord(value: Value): void {
  checkText(value["text"], "text", MAX_GRAPHEMES, MAX_BYTES);
  const createdAt = value["createdAt"];
  if (
    typeof createdAt !== "string" ||
    !DATETIME.test(createdAt) ||
    Number.isNaN(Date.parse(createdAt))
  ) {
    invalid("expected a datetime", "createdAt");
  }
  checkList(value["langs"], "langs", MAX_LANGS);
  for (const [index, tag] of checkList(value["tags"], "tags", MAX_TAGS).entries()) {
    checkText(tag, `tags[${index}]`, MAX_TAG_GRAPHEMES, MAX_TAG_BYTES);
  }
  for (const [index, facet] of checkList(value["facets"], "facets", Infinity).entries()) {
    checkFacet(facet, `facets[${index}]`);
  }
  checkReply(value["reply"]);
  checkEmbed(value["embed"]);
}
