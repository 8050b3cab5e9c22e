import { contentType, jsonObject } from "#src/http/call.ts";
import type { Reply } from "#src/http/call.ts";
import { partsOf, requireParameter } from "#src/youtube/endpoint.ts";
import type { Endpoint, YoutubeCall } from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import { makeVideo, videoReply } from "#src/youtube/make-video.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { spendChannelUpload } from "#src/youtube/quota.ts";
import { relatedParts } from "#src/youtube/related-parts.ts";
import { SCOPES } from "#src/youtube/tokens.ts";
import type { Upload } from "#src/youtube/uploads.ts";
import { parseVideo } from "#src/youtube/video-metadata.ts";
import type { VideoMetadata } from "#src/youtube/video-metadata.ts";

export const UPLOAD_PATH = "/upload/youtube/v3/videos";
const PARTS = ["snippet", "status"];
const NOT_MULTIPART = "The body is not a multipart/related message of metadata and a file.";
const MAX_BYTES = 256_000_000_000;
const VIDEO_TYPE = /^(?:video\/[\w.+-]+|application\/octet-stream)$/;

function announcedBytes({ call }: YoutubeCall): number | null {
  const header = call.headers["x-upload-content-length"];
  if (header === undefined) {
    return null;
  }
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

/** Counts an upload toward the upload limit of its YouTube channel, and stores the metadata of its video. */
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

/** Creates a YouTube video from a call that contains both metadata and file. */
function insertWhole(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, now } = youtubeCall;
  const parts = partsOf(call.query, PARTS);
  const [about, file] = relatedParts(call) ?? refuse(400, "badContent", { message: NOT_MULTIPART });
  const isJson = about.contentType === "application/json";
  const body = isJson ? jsonObject({ body: about.content }) : undefined;
  const metadata = parseVideo(body, parts, now);
  checkMediaType(file.contentType);
  if (file.content.length === 0) {
    refuse(400, "mediaBodyRequired", {
      message: "The request does not include the video content.",
    });
  }
  const upload = openUpload(network, youtubeCall, metadata, file.content.length);
  const video = makeVideo(network, network.uploads.append(upload, file.content), now);
  return videoReply(network, video, { status: 200, parts, now });
}

function insert(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
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

/**
 * `POST /upload/youtube/v3/videos`: starts a YouTube upload session, whose video exists only after its last byte has
 * arrived; or uploads a whole video with its metadata, as Google's own client does.
 */
export function beginUpload(network: YoutubeNetwork): Endpoint {
  return {
    method: "POST",
    path: UPLOAD_PATH,
    operations: ({ query }) =>
      query.get("uploadType") === "multipart" ? ["publish", "create"] : ["create"],
    scopes: [SCOPES.upload, SCOPES.forceSsl],
    cost: "upload",
    parameters: [
      "uploadType",
      "part",
      "notifySubscribers",
      "autoLevels",
      "stabilize",
      "onBehalfOfContentOwner",
      "onBehalfOfContentOwnerChannel",
    ],
    handle: (call) => insert(network, call),
  };
}
