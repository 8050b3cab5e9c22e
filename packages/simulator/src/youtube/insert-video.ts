import { type Call, contentType, jsonObject, type Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeCall, YoutubeNetwork } from "#src/youtube/network.ts";
import { spendChannelUpload } from "#src/youtube/quota.ts";
import { partsOf, requireParameter } from "#src/youtube/resources.ts";
import type { Upload } from "#src/youtube/uploads.ts";
import { contextOf, videoView } from "#src/youtube/video-list.ts";
import { parseVideo, type VideoMetadata } from "#src/youtube/video-metadata.ts";
import type { Video } from "#src/youtube/videos.ts";

interface RelatedPart {
  /** MIME type in lower case, without parameters. */
  readonly contentType: string;
  readonly content: Buffer;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");

function partOf(bytes: Buffer): RelatedPart | undefined {
  const end = bytes.indexOf(BLANK_LINE);
  const head = bytes.toString("latin1", 0, Math.max(end, 0));
  const type = /^content-type: *([^\r\n;]+)/im.exec(head)?.[1];
  return type === undefined
    ? undefined
    : { contentType: type.trim().toLowerCase(), content: bytes.subarray(end + BLANK_LINE.length) };
}

/** Metadata and file, as RFC 2387 describes. */
function relatedParts(call: Call): readonly [RelatedPart, RelatedPart] | undefined {
  const boundary = /boundary="?([^";\s]{1,70})/i.exec(call.headers["content-type"] ?? "")?.[1];
  if (contentType(call) !== "multipart/related" || boundary === undefined) return undefined;
  const { body } = call;
  const opening = `--${boundary}\r\n`;
  const between = `\r\n${opening}`;
  const middle = body.indexOf(between);
  const end = body.lastIndexOf(`\r\n--${boundary}--`);
  if (!body.subarray(0, opening.length).equals(Buffer.from(opening)) || middle === -1)
    return undefined;
  const metadata = partOf(body.subarray(opening.length, middle));
  const file = partOf(body.subarray(middle + between.length, Math.max(end, 0)));
  return metadata === undefined || file === undefined ? undefined : [metadata, file];
}

export const UPLOAD_PATH = "/upload/youtube/v3/videos";
const PARTS = ["snippet", "status"];
const NOT_MULTIPART = "The body is not a multipart/related message of metadata and a file.";
const MAX_BYTES = 256_000_000_000;
const VIDEO_TYPE = /^(?:video\/[\w.+-]+|application\/octet-stream)$/;

function announcedBytes({ call }: YoutubeCall): number | null {
  const header = call.headers["x-upload-content-length"];
  if (header === undefined) return null;
  const bytes = Number(header);
  return Number.isInteger(bytes) && bytes > 0 && bytes <= MAX_BYTES
    ? bytes
    : refuse(400, "badRequest", { message: "Invalid X-Upload-Content-Length" });
}

function checkMediaType(type: string): void {
  if (!VIDEO_TYPE.test(type)) {
    const message = `Media type '${type}' is not supported. Valid media types: [video/*, application/octet-stream]`;
    refuse(400, "badContent", { message });
  }
}

function openUpload(
  network: YoutubeNetwork,
  { call, channel, now }: YoutubeCall,
  metadata: VideoMetadata,
  totalBytes: number | null,
): Upload {
  spendChannelUpload(network.world, channel.externalId, now);
  const notifySubscribers = call.query.get("notifySubscribers") !== "false";
  const about = { metadata: { ...metadata, notifySubscribers }, totalBytes };
  return network.uploads.begin({ ...about, channel: channel.externalId }, now);
}

function begin(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, now } = youtubeCall;
  const parts = partsOf(call.query, PARTS);
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  const metadata = parseVideo(body, parts, now);
  checkMediaType(String(call.headers["x-upload-content-type"] ?? "application/octet-stream"));
  const { id } = openUpload(network, youtubeCall, metadata, announcedBytes(youtubeCall));
  const query = new URLSearchParams({
    uploadType: "resumable",
    part: [...parts].join(","),
    upload_id: id,
  });
  const location = `${call.baseUrl}${UPLOAD_PATH}?${query.toString()}`;
  const headers = { location, "x-guploader-uploadid": id, "content-length": "0" };
  return { status: 200, headers, body: "" };
}

function insertWhole(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, now } = youtubeCall;
  const parts = partsOf(call.query, PARTS);
  const [about, file] = relatedParts(call) ?? refuse(400, "badContent", { message: NOT_MULTIPART });
  const isJson = about.contentType === "application/json";
  const body = isJson ? jsonObject({ body: about.content }) : undefined;
  const metadata = parseVideo(body, parts, now);
  checkMediaType(file.contentType);
  if (file.content.length === 0)
    refuse(400, "mediaBodyRequired", {
      message: "The request does not include the video content.",
    });
  const upload = openUpload(network, youtubeCall, metadata, file.content.length);
  const video = makeVideo(network, network.uploads.append(upload, file.content), now);
  return videoReply(network, video, { status: 200, parts, now });
}

export function insertOperations({ query }: Call): Operations {
  return query.get("uploadType") === "multipart" ? ["publish", "create"] : ["create"];
}

export function insertVideo(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  switch (requireParameter(youtubeCall.call.query, "uploadType")) {
    case "resumable":
      return begin(network, youtubeCall);
    case "multipart":
      return insertWhole(network, youtubeCall);
    default:
      return refuse(400, "badRequest", {
        message: "Only resumable and multipart uploads are simulated.",
      });
  }
}

export function makeVideo(network: YoutubeNetwork, upload: Upload, now: number): Video {
  const received = network.uploads.read(upload);
  const video = network.videos.add({
    channel: upload.channel,
    metadata: network.world.settings.values.audited
      ? upload.metadata
      : { ...upload.metadata, privacyStatus: "private" },
    bytes: upload.storedBytes,
    createdAt: now,
    received: received?.kind === "video" ? received : undefined,
  });
  network.uploads.complete(upload, video.id);
  return video;
}

interface VideoReply {
  readonly status: number;
  readonly parts: ReadonlySet<string>;
  readonly now: number;
}

export function videoReply(
  network: YoutubeNetwork,
  video: Video,
  { status, parts, now }: VideoReply,
): Reply {
  return { status, body: videoView(video, contextOf(network, video, { now, asOf: now }), parts) };
}
