import { type Call, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import { formParts } from "#src/http/multipart.ts";
import { receive } from "#src/world/received-media.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { refuseParameter } from "#src/x/errors.ts";
import {
  CATEGORIES,
  isCategory,
  MAX_SEGMENT_BYTES,
  MAX_SEGMENT_INDEX,
  type MediaCategory,
  mediaFault,
} from "#src/x/media-rules.ts";
import { mediaView } from "#src/x/media-view.ts";
import {
  MEDIA_LIFETIME_SECONDS,
  segmentName,
  UPLOAD_LIFETIME_SECONDS,
  type XMedia,
} from "#src/x/media.ts";
import type { XNetwork } from "#src/x/network.ts";

const UPLOADS_PER_USER = 500;
const SEGMENTS_PER_USER = 1875;

/** A field that the endpoint does not have is an error. */
function fieldsOf(call: Call, known: readonly string[]): Readonly<Record<string, unknown>> {
  const parts = formParts(call);
  const fields =
    parts === undefined
      ? jsonObject(call)
      : Object.fromEntries(
          parts.map((part) => [
            part.name,
            part.fileName === undefined ? part.content.toString("utf8") : part.content,
          ]),
        );
  if (!isRecord(fields))
    return refuseParameter("body", "", "The body is neither a form nor a JSON object.");

  for (const name of Object.keys(fields))
    if (!known.includes(name))
      refuseParameter(`$.${name}`, "", `$.${name}: is not defined in the schema`);

  return fields;
}

function bytesOf(value: unknown): Buffer {
  if (Buffer.isBuffer(value) && value.length > 0) return value;

  if (typeof value === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(value))
    return Buffer.from(value, "base64");

  return refuseParameter("media", "", "The `media` is missing or not valid");
}

function categoryOf(value: unknown): MediaCategory {
  return isCategory(value)
    ? value
    : refuseParameter("media_category", value, "The `media_category` is not valid");
}

function checkSize(category: MediaCategory, bytes: number): void {
  if (!Number.isInteger(bytes) || bytes < 1 || bytes > CATEGORIES[category].maxBytes)
    refuseParameter("total_bytes", bytes, "The size of the media is not valid for its category");
}

function create(
  network: XNetwork,
  { account, now }: XCall,
  media: Pick<XMedia, "category" | "mediaType" | "totalBytes">,
): XMedia {
  const id = network.world.snowflakes.next(now);
  return {
    id,
    key: `${CATEGORIES[media.category].keyPrefix}_${id}`,
    owner: account.externalId,
    segments: {},
    expiresAt: now + UPLOAD_LIFETIME_SECONDS * 1000,
    ...media,
  };
}

function uploadImage(network: XNetwork, xCall: XCall): Reply {
  const known = ["media", "media_category", "media_type", "shared", "additional_owners"];
  const fields = fieldsOf(xCall.call, known);
  const category = categoryOf(fields["media_category"]);
  const bytes = bytesOf(fields["media"]);
  checkSize(category, bytes.length);
  const received = receive([bytes]);
  if (received === undefined || received.kind !== CATEGORIES[category].kind)
    return refuseParameter("media", "", "The type of the media is not recognized");

  const fault = mediaFault(received);
  if (fault !== undefined) refuseParameter("media", "", fault);

  const { contentType, bytes: totalBytes } = received;
  const upload = create(network, xCall, { category, mediaType: contentType, totalBytes });
  const expiresAt = xCall.now + MEDIA_LIFETIME_SECONDS * 1000;
  const media = network.media.put({ ...upload, received, expiresAt, completedAt: xCall.now });
  return { status: 200, body: { data: mediaView(media, xCall.now) } };
}

function initialize(network: XNetwork, xCall: XCall): Reply {
  const known = ["media_type", "total_bytes", "media_category", "shared", "additional_owners"];
  const fields = fieldsOf(xCall.call, known);
  const category = categoryOf(fields["media_category"]);
  const mediaType = String(fields["media_type"]);
  if (!CATEGORIES[category].types.includes(mediaType))
    refuseParameter("media_type", mediaType, "The `media_type` is not valid for its category");

  const totalBytes = Number(fields["total_bytes"]);
  checkSize(category, totalBytes);
  const media = network.media.put(create(network, xCall, { category, mediaType, totalBytes }));
  const { id, key } = media;
  const data = { id, media_key: key, expires_after_secs: UPLOAD_LIFETIME_SECONDS };
  return { status: 200, body: { data } };
}

function openUpload(network: XNetwork, { account, call, now }: XCall): XMedia {
  const id = call.params["id"] ?? "";
  const media = network.media.find(account.externalId, id, now);
  return media === undefined || media.completedAt !== undefined
    ? refuseParameter("id", id, "The media id is not known or has expired")
    : media;
}

function append(network: XNetwork, xCall: XCall): Reply {
  const media = openUpload(network, xCall);
  const fields = fieldsOf(xCall.call, ["media", "segment_index"]);
  const index = Number(fields["segment_index"] ?? Number.NaN);
  if (!Number.isInteger(index) || index < 0 || index > MAX_SEGMENT_INDEX)
    refuseParameter("segment_index", fields["segment_index"], "It is a number from 0 to 999");

  const bytes = bytesOf(fields["media"]);
  if (bytes.length > MAX_SEGMENT_BYTES)
    refuseParameter("media", "", "The segment is larger than 5 MB");

  network.world.pieces.put(segmentName(media.id, index), bytes);
  network.media.put({ ...media, segments: { ...media.segments, [index]: bytes.length } });
  const expiresAt = Math.floor(media.expiresAt / 1000);
  return { status: 200, body: { data: { expires_at: expiresAt } } };
}

/** Refuses an upload with a missing segment, or with another length than announced. */
function segmentsOf({ id, segments, totalBytes }: XMedia): readonly string[] {
  const sizes = Object.keys(segments).map((_key, index) => segments[index]);
  const total = sizes.reduce((sum: number, size) => sum + (size ?? Number.NaN), 0);
  if (total !== totalBytes)
    refuseParameter("id", id, "The segments do not add up to the announced `total_bytes`");

  return sizes.map((_size, index) => segmentName(id, index));
}

function finalize(network: XNetwork, xCall: XCall): Reply {
  const { now } = xCall;
  const { pieces } = network.world;
  const upload = openUpload(network, xCall);
  const names = segmentsOf(upload);
  const found = receive(readAll(names, (name) => pieces.get(name)));
  const isAsSaid = found?.kind === CATEGORIES[upload.category].kind;
  const fault = isAsSaid ? mediaFault(found) : "The type of the media is not recognized";
  if (fault !== undefined && upload.category === "tweet_image")
    refuseParameter("id", upload.id, fault);

  const media = network.media.put({
    ...upload,
    segments: {},
    completedAt: now,
    expiresAt: now + MEDIA_LIFETIME_SECONDS * 1000,
    // A GIF or video that is stored without `received` (its type and size) fails in X's processing.
    ...(isAsSaid && fault === undefined ? { received: found } : {}),
    ...(isAsSaid && fault !== undefined ? { fault } : {}),
  });
  for (const name of names) pieces.drop(name);

  return { status: 200, body: { data: mediaView(media, now) } };
}

function* readAll(names: readonly string[], read: (name: string) => Buffer): Generator<Buffer> {
  for (const name of names) yield read(name);
}

function endpoint(
  path: string,
  handle: (call: XCall) => Reply,
  limit: Pick<Endpoint, "bucket" | "perUser"> = { bucket: "upload", perUser: UPLOADS_PER_USER },
): Endpoint {
  return { method: "POST", path, operations: () => ["upload"], ...limit, handle };
}

export function mediaUploads(network: XNetwork): readonly Endpoint[] {
  const segments = { bucket: "segments", perUser: SEGMENTS_PER_USER };
  return [
    endpoint("/2/media/upload", (call) => uploadImage(network, call)),
    endpoint("/2/media/upload/initialize", (call) => initialize(network, call)),
    endpoint("/2/media/upload/:id/append", (call) => append(network, call), segments),
    endpoint("/2/media/upload/:id/finalize", (call) => finalize(network, call)),
  ];
}
