import { type Call, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import { bodyFields } from "#src/http/multipart.ts";
import { receive } from "#src/world/received-media.ts";
import { refuseParameter } from "#src/x/errors.ts";
import {
  CATEGORIES,
  isCategory,
  MAX_SEGMENT_BYTES,
  MAX_SEGMENT_INDEX,
  MEDIA_LIFETIME_SECONDS,
  type MediaCategory,
  mediaFault,
  mediaView,
  segmentName,
  UPLOAD_LIFETIME_SECONDS,
  type XMedia,
} from "#src/x/media.ts";
import type { XCall, XNetwork } from "#src/x/network.ts";
import { checkParameters } from "#src/x/query.ts";

/** A field that the endpoint does not have is an error. */
function fieldsOf(call: Call, known: readonly string[]): Readonly<Record<string, unknown>> {
  const refused = "The body is neither a form nor a JSON object.";
  const fields = Object.fromEntries(bodyFields(call) ?? refuseParameter("body", "", refused));
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

export function uploadImage(network: XNetwork, xCall: XCall): Reply {
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

export function initialize(network: XNetwork, xCall: XCall): Reply {
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

export function append(network: XNetwork, xCall: XCall): Reply {
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

export function finalize(network: XNetwork, xCall: XCall): Reply {
  const { now } = xCall;
  const upload = openUpload(network, xCall);
  const names = segmentsOf(upload);
  const found = receive(network.world.pieces.read(names));
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
    received: isAsSaid && fault === undefined ? found : undefined,
    fault: isAsSaid ? fault : undefined,
  });
  network.world.pieces.drop(names);
  return { status: 200, body: { data: mediaView(media, now) } };
}

const MAX_ALT_TEXT_LENGTH = 1000;

function altTextOf(metadata: unknown): string {
  const altText = isRecord(metadata) ? metadata["alt_text"] : undefined;
  const text = isRecord(altText) ? altText["text"] : undefined;
  if (typeof text !== "string" || text === "" || text.length > MAX_ALT_TEXT_LENGTH)
    return refuseParameter(
      "metadata.alt_text.text",
      "",
      `A description has 1 to ${MAX_ALT_TEXT_LENGTH} characters.`,
    );
  return text;
}

export function mediaMetadata(network: XNetwork, { account, call, now }: XCall): Reply {
  const { id, metadata } = jsonObject(call) ?? {};
  const media =
    typeof id === "string" ? network.media.find(account.externalId, id, now) : undefined;
  if (media === undefined || media.category === "tweet_video")
    return refuseParameter("id", id, "The media id is not known, or is not an image or a GIF");
  const altText = altTextOf(metadata);
  network.media.put({ ...media, altText });
  const described = { id: media.id, associated_metadata: { alt_text: { text: altText } } };
  return { status: 200, body: { data: described } };
}

export function mediaStatus(network: XNetwork, { account, call, now }: XCall): Reply {
  checkParameters(call.query, ["command", "media_id"]);
  const command = call.query.get("command");
  if (command !== null && command !== "STATUS")
    refuseParameter("command", command, "The `command` is STATUS");
  const id = call.query.get("media_id") ?? "";
  const media = network.media.find(account.externalId, id, now);
  if (media?.completedAt === undefined)
    return refuseParameter("media_id", id, "The media id is not known or has expired");
  return { status: 200, body: { data: mediaView(media, now) } };
}
