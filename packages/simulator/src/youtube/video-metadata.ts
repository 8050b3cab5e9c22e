import { isRecord } from "#src/http/call.ts";
import { refuse, refuseVideo } from "#src/youtube/errors.ts";

export type PrivacyStatus = "public" | "unlisted" | "private";

export interface VideoMetadata {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly categoryId: string;
  readonly privacyStatus: PrivacyStatus;
  readonly license: string;
  readonly embeddable: boolean;
  readonly madeForKids: boolean;
  readonly notifySubscribers?: boolean;
}

const MAX_TITLE_CHARACTERS = 100;
const MAX_DESCRIPTION_BYTES = 5000;
const MAX_TAGS_CHARACTERS = 500;
const FORBIDDEN = /[<>]/;
const PRIVACY: readonly unknown[] = ["public", "unlisted", "private"];
const LICENSES: readonly unknown[] = ["youtube", "creativeCommon"];
/** Ids of the YouTube categories that exist in every region and accept videos. */
const CATEGORIES = new Set("1 2 10 15 17 19 20 22 23 24 25 26 27 28 29".split(" "));

const FIELDS = {
  snippet: [
    "title",
    "description",
    "tags",
    "categoryId",
    "defaultLanguage",
    "defaultAudioLanguage",
  ],
  status: [
    "privacyStatus",
    "publishAt",
    "selfDeclaredMadeForKids",
    "containsSyntheticMedia",
    "embeddable",
    "license",
    "publicStatsViewable",
  ],
} as const;

type Part = keyof typeof FIELDS;
type Fields = Readonly<Record<string, unknown>>;

function isPart(name: string): name is Part {
  return Object.hasOwn(FIELDS, name);
}

function checkNames(fields: Fields, known: readonly string[], at: string): void {
  for (const name of Object.keys(fields))
    if (!known.includes(name)) {
      const message = `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;
      refuse(400, "badRequest", { message });
    }
}

function fieldsOf(body: Fields, part: Part): Fields {
  const fields = body[part] ?? {};
  if (!isRecord(fields))
    return refuse(400, "badRequest", { message: `Invalid value at '${part}'` });
  checkNames(fields, FIELDS[part], ` at '${part}'`);
  return fields;
}

function checkParts(body: Fields, parts: ReadonlySet<string>): void {
  checkNames(body, ["kind", "etag", "id", ...Object.keys(FIELDS)], "");
  for (const name of Object.keys(body))
    if (isPart(name) && !parts.has(name))
      refuse(400, "unexpectedPart", { message: name, domain: "youtube.part", location: "part" });
}

function titleOf({ title }: Fields): string {
  const isValid =
    typeof title === "string" &&
    title.trim() !== "" &&
    title.length <= MAX_TITLE_CHARACTERS &&
    !FORBIDDEN.test(title);
  const message = "The request metadata specifies an invalid or empty video title.";
  return isValid ? title : refuseVideo("invalidTitle", message, "body.snippet.title");
}

function descriptionOf({ description = "" }: Fields): string {
  const isValid =
    typeof description === "string" &&
    Buffer.byteLength(description) <= MAX_DESCRIPTION_BYTES &&
    !FORBIDDEN.test(description);
  const message = "The request metadata specifies an invalid video description.";
  return isValid
    ? description
    : refuseVideo("invalidDescription", message, "body.snippet.description");
}

/** With a comma between tags, and with quotes around a tag that contains a space. */
function lengthOf(tags: readonly string[]): number {
  const quotes = tags.filter((tag) => tag.includes(" ")).length * 2;
  return tags.join(",").length + quotes;
}

function tagsOf({ tags = [] }: Fields): readonly string[] {
  const isValid =
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === "string" && tag.trim() !== "" && !FORBIDDEN.test(tag)) &&
    lengthOf(tags as string[]) <= MAX_TAGS_CHARACTERS;
  const message = "The request metadata specifies invalid video keywords.";
  return isValid ? (tags as string[]) : refuseVideo("invalidTags", message, "body.snippet.tags[]");
}

function categoryOf({ categoryId = "22" }: Fields): string {
  return typeof categoryId === "string" && CATEGORIES.has(categoryId)
    ? categoryId
    : refuseVideo(
        "invalidCategoryId",
        "The snippet.categoryId property specifies an invalid category ID.",
        "body.snippet.categoryId",
      );
}

function checkFlags(status: Fields): void {
  for (const name of [
    "selfDeclaredMadeForKids",
    "containsSyntheticMedia",
    "embeddable",
    "publicStatsViewable",
  ])
    if (status[name] !== undefined && typeof status[name] !== "boolean")
      refuse(400, "badRequest", { message: `Invalid value at 'status.${name}' (TYPE_BOOL)` });
}

function checkPublishAt({ publishAt, privacyStatus }: Fields, now: number): void {
  if (publishAt === undefined) return;
  const isFuture = typeof publishAt === "string" && Date.parse(publishAt) > now;
  if (!isFuture || privacyStatus !== "private") {
    const message = "The request metadata specifies an invalid scheduled publishing time.";
    refuseVideo("invalidPublishAt", message, "body.status.publishAt");
  }
}

function statusOf(status: Fields, now: number) {
  const { privacyStatus = "public", license = "youtube", embeddable = true } = status;
  checkFlags(status);
  checkPublishAt(status, now);
  if (!PRIVACY.includes(privacyStatus) || !LICENSES.includes(license))
    refuseVideo(
      "invalidVideoMetadata",
      "The request metadata is invalid.",
      PRIVACY.includes(privacyStatus) ? "body.status.license" : "body.status.privacyStatus",
    );
  return {
    privacyStatus: privacyStatus as PrivacyStatus,
    license: String(license),
    embeddable: embeddable === true,
    madeForKids: status["selfDeclaredMadeForKids"] === true,
  };
}

export function parseVideo(
  body: Readonly<Record<string, unknown>> | undefined,
  parts: ReadonlySet<string>,
  now: number,
): VideoMetadata {
  if (body === undefined) return refuse(400, "parseError", { message: "Parse Error" });
  checkParts(body, parts);
  const snippet = fieldsOf(body, "snippet");
  return {
    title: titleOf(snippet),
    description: descriptionOf(snippet),
    tags: tagsOf(snippet),
    categoryId: categoryOf(snippet),
    ...statusOf(fieldsOf(body, "status"), now),
  };
}
