import { checkList, checkText, invalid } from "#src/bluesky/lexicon-checks.ts";
import { isRecord } from "#src/http/call.ts";

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
