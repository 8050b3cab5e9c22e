import { blobRefsOf } from "#src/bluesky/embed.ts";
import { checkList, checkText, invalid } from "#src/bluesky/lexicon-checks.ts";
import { isRecord } from "#src/http/call.ts";

const MAX_GRAPHEMES = 300;
const MAX_BYTES = 3000;
const MAX_LANGS = 3;
const MAX_TAGS = 8;
const MAX_TAG_GRAPHEMES = 64;
const MAX_TAG_BYTES = 640;
const DATETIME =
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-](?:0[0-9]|1[0-9]|2[0-3]):\d{2})$/;

type Value = Readonly<Record<string, unknown>>;

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
