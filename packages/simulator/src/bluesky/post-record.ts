import { refuseInput } from "#src/bluesky/errors.ts";
import { isRecord } from "#src/http/call.ts";

export const POST_COLLECTION = "app.bsky.feed.post";

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export function invalid(what: string, path: string, collection = POST_COLLECTION): never {
  return refuseInput(`Invalid ${collection} record: ${what} at $.${path}`);
}

function graphemes(text: string): number {
  let count = 0;
  for (const _segment of SEGMENTER.segment(text)) count += 1;
  return count;
}

function checkText(value: unknown, path: string, maxGraphemes: number, maxBytes: number): void {
  if (typeof value !== "string")
    return invalid(`expected string value type (got ${typeof value})`, path);
  const bytes = Buffer.byteLength(value, "utf8");
  if (bytes > maxBytes) return invalid(`string too big (maximum ${maxBytes}, got ${bytes})`, path);
  // A text never has more grapheme clusters than UTF-16 units. A text with few enough UTF-16 units
  // therefore needs no segmentation into grapheme clusters.
  const count = value.length > maxGraphemes ? graphemes(value) : 0;
  if (count > maxGraphemes)
    invalid(`grapheme too big (maximum ${maxGraphemes}, got ${count})`, path);
}

export function checkList(
  value: unknown,
  path: string,
  max: number,
  collection = POST_COLLECTION,
): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return invalid("expected array value type", path, collection);
  return value.length > max
    ? invalid(`array too big (maximum ${max}, got ${value.length})`, path, collection)
    : value;
}

export interface BlobRef {
  readonly cid: string;
  readonly mimeType: string;
  readonly size: number;
  readonly altText?: string;
}

interface BlobRule {
  readonly accept: string;
  readonly maxBytes: number;
}

type Value = Readonly<Record<string, unknown>>;

const IMAGES = "app.bsky.embed.images";
const GALLERY = "app.bsky.embed.gallery";
const VIDEO = "app.bsky.embed.video";
const EXTERNAL = "app.bsky.embed.external";
const RECORD_WITH_MEDIA = "app.bsky.embed.recordWithMedia";
const IMAGE_RULE: BlobRule = { accept: "image/", maxBytes: 2_000_000 };
const VIDEO_RULE: BlobRule = { accept: "video/mp4", maxBytes: 300_000_000 };
const THUMB_RULE: BlobRule = { accept: "image/", maxBytes: 1_000_000 };
const MAX_IMAGES = 4;
const MAX_GALLERY = 20;
const MAX_CAPTIONS = 20;

function blobRef(value: unknown, path: string, rule: BlobRule): BlobRef {
  const ref = isRecord(value) && value["$type"] === "blob" ? value["ref"] : undefined;
  const cid = isRecord(ref) ? ref["$link"] : undefined;
  const { mimeType, size } = isRecord(value) ? value : {};
  if (typeof cid !== "string" || typeof mimeType !== "string" || typeof size !== "number")
    return invalid("expected a blob", path);
  if (size > rule.maxBytes) invalid(`blob too big (maximum ${rule.maxBytes}, got ${size})`, path);
  return mimeType.startsWith(rule.accept)
    ? { cid, mimeType, size }
    : invalid(`expected a blob of ${rule.accept} (got ${mimeType})`, path);
}

function checkAspectRatio(value: unknown, path: string): void {
  const isSide = (side: unknown) => Number.isSafeInteger(side) && Number(side) >= 1;
  const isRatio = isRecord(value) && isSide(value["width"]) && isSide(value["height"]);
  if (value !== undefined && !isRatio)
    invalid("expected width and height as integers from 1", path);
}

function withAltText(ref: BlobRef, altText: unknown): BlobRef {
  return typeof altText === "string" && altText !== "" ? { ...ref, altText } : ref;
}

function imageRef(image: unknown, path: string): BlobRef {
  if (!isRecord(image)) return invalid("expected an object", path);
  checkText(image["alt"], `${path}.alt`, Infinity, Infinity);
  checkAspectRatio(image["aspectRatio"], `${path}.aspectRatio`);
  return withAltText(blobRef(image["image"], `${path}.image`, IMAGE_RULE), image["alt"]);
}

function imageRefs(embed: Value, field: string, max: number, at: string): readonly BlobRef[] {
  const path = `${at}.${field}`;
  const images = checkList(embed[field] ?? invalid("expected an array", path), path, max);
  return images.map((image, index) => imageRef(image, `${path}[${index}]`));
}

function videoRefs(embed: Value, at: string): readonly BlobRef[] {
  if (embed["alt"] !== undefined) checkText(embed["alt"], `${at}.alt`, Infinity, Infinity);
  checkList(embed["captions"], `${at}.captions`, MAX_CAPTIONS);
  checkAspectRatio(embed["aspectRatio"], `${at}.aspectRatio`);
  return [withAltText(blobRef(embed["video"], `${at}.video`, VIDEO_RULE), embed["alt"])];
}

function externalRefs(embed: Value, at: string): readonly BlobRef[] {
  const { external } = embed;
  if (!isRecord(external)) return invalid("expected an object", `${at}.external`);
  for (const field of ["uri", "title", "description"])
    checkText(external[field], `${at}.external.${field}`, Infinity, Infinity);
  const { thumb } = external;
  return thumb === undefined ? [] : [blobRef(thumb, `${at}.external.thumb`, THUMB_RULE)];
}

/** An unknown embed type is allowed, because lexicon unions are open. */
function embedRefs(embed: unknown, at: string): readonly BlobRef[] {
  if (!isRecord(embed) || typeof embed["$type"] !== "string")
    return invalid("expected a typed object", at);
  switch (embed["$type"]) {
    case IMAGES:
      return imageRefs(embed, "images", MAX_IMAGES, at);
    case GALLERY:
      return imageRefs(embed, "items", MAX_GALLERY, at);
    case VIDEO:
      return videoRefs(embed, at);
    case EXTERNAL:
      return externalRefs(embed, at);
    case RECORD_WITH_MEDIA:
      return embedRefs(embed["media"], `${at}.media`);
    default:
      return [];
  }
}

export function blobRefsOf(post: Value): readonly BlobRef[] {
  return post["embed"] === undefined ? [] : embedRefs(post["embed"], "embed");
}

const MAX_GRAPHEMES = 300;
const MAX_BYTES = 3000;
const MAX_LANGS = 3;
const MAX_TAGS = 8;
const MAX_TAG_GRAPHEMES = 64;
const MAX_TAG_BYTES = 640;
const DATETIME =
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-](?:0[0-9]|1[0-9]|2[0-3]):\d{2})$/;

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function checkFacet(facet: unknown, path: string): void {
  const index = isRecord(facet) ? facet["index"] : undefined;
  const features = isRecord(facet) ? facet["features"] : undefined;
  if (!isRecord(index) || !isOffset(index["byteStart"]) || !isOffset(index["byteEnd"]))
    invalid("expected byteStart and byteEnd as integers", `${path}.index`);
  if (!Array.isArray(features) || !features.every((one) => isRecord(one) && "$type" in one))
    invalid("expected typed features", `${path}.features`);
}

function isStrongRef(value: unknown): boolean {
  return isRecord(value) && typeof value["uri"] === "string" && typeof value["cid"] === "string";
}

function checkReply(reply: unknown): void {
  if (
    reply !== undefined &&
    !(isRecord(reply) && isStrongRef(reply["root"]) && isStrongRef(reply["parent"]))
  )
    invalid("expected root and parent as strong references", "reply");
}

/** As on a real PDS, fields outside the lexicon are allowed. */
export function checkPostRecord(value: Value): void {
  checkText(value["text"], "text", MAX_GRAPHEMES, MAX_BYTES);
  const createdAt = value["createdAt"];
  if (
    typeof createdAt !== "string" ||
    !DATETIME.test(createdAt) ||
    Number.isNaN(Date.parse(createdAt))
  )
    invalid("expected a datetime", "createdAt");
  checkList(value["langs"], "langs", MAX_LANGS);
  for (const [index, tag] of checkList(value["tags"], "tags", MAX_TAGS).entries())
    checkText(tag, `tags[${index}]`, MAX_TAG_GRAPHEMES, MAX_TAG_BYTES);
  for (const [index, facet] of checkList(value["facets"], "facets", Infinity).entries())
    checkFacet(facet, `facets[${index}]`);
  checkReply(value["reply"]);
  blobRefsOf(value);
}
