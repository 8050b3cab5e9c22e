import { bluesky } from "#src/bluesky/facts.ts";
import type { JsonObject } from "#src/http/platform-answer.ts";
import { refuseLongAltText } from "#src/publishing/alt-text.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "../settings.ts";
import { readBlob } from "./blob-state.ts";
import { createCard, hasStaleThumb, withoutThumb } from "./card-embed.ts";
import { createFacets } from "./facets.ts";
import type { PageReader } from "./link-card.ts";
import { resolveMentions } from "./mentions.ts";
import { createTid } from "./tid.ts";
import { COLLECTION } from "./xrpc.ts";

interface RecordOptions {
  readonly baseUrl: string;
  readonly pages: PageReader;
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
  options: RecordOptions,
  publication: Publication,
  now: Date,
  signal: AbortSignal,
): Promise<PreparedRecord | Failure> {
  const { baseUrl } = options;
  const dids = await resolveMentions(baseUrl, publication, publication.text, signal);
  if ("kind" in dids) return dids;
  const { embed, handles } = await createCard(options, publication, signal);
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
export function createRecordStep(options: RecordOptions, post: Publication): PrepareStep {
  return {
    name: "record",
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
      const prepared =
        readPrepared(handles) ?? (await createRecord(options, publication, now, signal));
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
