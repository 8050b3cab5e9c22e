import { isObject } from "@postrider/shared/is-object";
import { bluesky, SETTINGS } from "#src/bluesky/facts.ts";
import { type JsonObject, object } from "#src/http/platform-answer.ts";
import { bytesBody } from "#src/http/platform-request.ts";
import { refuseLongAltText } from "#src/publishing/alt-text.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { createFacets, findFirstLink, resolveMentions } from "./facets.ts";
import { fetchCard, fetchCardImage, type PageReader } from "./link-card.ts";
import { createTid } from "./put-post.ts";
import { isFresh, readBlob, toBlobHandle, uploadBlob } from "./video-calls.ts";
import { COLLECTION, openBluesky } from "./xrpc.ts";

interface RecordOptions {
  readonly baseUrl: string;
  readonly pages: PageReader;
}

interface CardEmbed {
  readonly embed: JsonObject;
  readonly handles: Handles;
}

const NONE: CardEmbed = { embed: {}, handles: {} };

/** Makes a card if the page can be read, with a picture if Bluesky accepts it unchanged. */
async function createCard(
  bluesky: Caller,
  pages: PageReader,
  { text: content, media }: Publication,
): Promise<CardEmbed> {
  const uri = findFirstLink(content);
  if (uri === undefined || media.length > 0) return NONE;
  const card = await fetchCard(pages, uri, bluesky.signal);
  if (card === undefined) return NONE;
  const { imageUrl, ...external } = card;
  const thumb = imageUrl === undefined ? undefined : await uploadThumb(bluesky, pages, imageUrl);
  if (thumb === undefined) return { embed: toCardEmbed(external), handles: {} };
  const handles = toBlobHandle("card", thumb, Date.now());
  return { embed: toCardEmbed({ ...external, thumb }), handles };
}

function toCardEmbed(external: JsonObject): JsonObject {
  return { embed: { $type: "app.bsky.embed.external", external } };
}

async function uploadThumb(
  bluesky: Caller,
  pages: PageReader,
  imageUrl: string,
): Promise<JsonObject | undefined> {
  const image = await fetchCardImage(pages, imageUrl, bluesky.signal);
  if (image === undefined) return undefined;
  const { contentType, bytes } = image;
  const body = bytesBody(contentType, {
    bytes: bytes.length,
    read: () => ReadableStream.from([bytes]),
  });
  return (await uploadBlob(bluesky, body)).blob;
}

function thumbOf(record: JsonObject): unknown {
  return object(object(record, "embed"), "external")?.thumb;
}

function hasStaleThumb(record: JsonObject, handles: Handles): boolean {
  return thumbOf(record) !== undefined && !isFresh(handles, "card", Date.now());
}

function withoutThumb(record: JsonObject): JsonObject {
  const { embed } = record;
  const external = object(embed, "external");
  if (!isObject(embed) || external === undefined) return record;
  const { thumb: _thumb, ...rest } = external;
  return { ...record, embed: { ...embed, external: rest } };
}

function aspectRatioOf({ width, height }: PublicationMedia): JsonObject {
  return width === null || height === null ? {} : { aspectRatio: { width, height } };
}

function toEmbed({ media }: Publication, handles: Handles): JsonObject {
  const [first] = media;
  if (first === undefined) return {};
  if (first.kind === "video") {
    const video = readBlob(handles, 0);
    const alt = first.altText === null ? {} : { alt: first.altText };
    return { embed: { $type: "app.bsky.embed.video", video, ...alt, ...aspectRatioOf(first) } };
  }
  const images = media.map((one, index) => ({
    image: readBlob(handles, index),
    alt: one.altText ?? "",
    ...aspectRatioOf(one),
  }));
  return { embed: { $type: "app.bsky.embed.images", images } };
}

function read({ record }: Handles): JsonObject | undefined {
  return record === undefined ? undefined : (JSON.parse(record) as JsonObject);
}

interface PreparedRecord {
  readonly record: JsonObject;
  readonly handles: Handles;
}

async function createRecord(
  bluesky: Caller,
  pages: PageReader,
  publication: Publication,
  now: Date,
): Promise<PreparedRecord | Failure> {
  const dids = await resolveMentions(bluesky, publication.text);
  if ("kind" in dids) return dids;
  const { embed, handles } = await createCard(bluesky, pages, publication);
  const facets = createFacets(publication.text, dids);
  const { languages } = readSettings(SETTINGS, publication.settings);
  const record = {
    $type: COLLECTION,
    text: publication.text,
    ...(languages.length === 0 ? {} : { langs: languages }),
    createdAt: now.toISOString(),
    ...(facets.length === 0 ? {} : { facets }),
    ...embed,
  };
  return { record, handles };
}

function readPrepared(handles: Handles): PreparedRecord | undefined {
  const record = read(handles);
  if (record === undefined) return undefined;
  return { record: hasStaleThumb(record, handles) ? withoutThumb(record) : record, handles: {} };
}

/**
 * Creates the step that chooses the record key of a Bluesky post and prepares the whole record, so
 * that every later call repeats the same write. When a second upload changes the reference to a
 * file, the record is updated under the same key, so that the post never exists twice.
 */
export function createRecordStep(
  { baseUrl, pages }: RecordOptions,
  post: Publication,
): PrepareStep {
  return {
    name: "record",
    isOwn: true,
    isDone: (handles) => {
      const record = read(handles);
      if (handles.rkey === undefined || record === undefined) return false;
      // Only files can change a prepared record: a repeated upload can change the reference to a
      // file.
      if (post.media.length === 0) return !hasStaleThumb(record, handles);
      return JSON.stringify(record.embed) === JSON.stringify(toEmbed(post, handles).embed);
    },
    run: async (publication, handles, signal) => {
      const now = new Date();
      const caller = openBluesky(baseUrl)(publication, signal);
      const prepared =
        readPrepared(handles) ?? (await createRecord(caller, pages, publication, now));
      if ("kind" in prepared) return prepared;
      const { record, handles: added } = prepared;
      const tooLong = publication.media.map((media) => refuseLongAltText(bluesky.rules, media));
      const refusal = tooLong.find((failure) => failure !== undefined);
      if (refusal !== undefined) return refusal;
      return {
        ...added,
        rkey: handles.rkey ?? createTid(now, Math.random()),
        record: JSON.stringify({ ...record, ...toEmbed(publication, handles) }),
      };
    },
  };
}
