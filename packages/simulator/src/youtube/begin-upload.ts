import { contentType, jsonObject } from "#src/http/call.ts";
import type { Reply } from "#src/http/call.ts";
import { partsOf, requireParameter } from "#src/youtube/endpoint.ts";
import type { Endpoint, YoutubeCall } from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { spendChannelUpload } from "#src/youtube/quota.ts";
import { SCOPES } from "#src/youtube/tokens.ts";
import { parseVideo } from "#src/youtube/video-metadata.ts";

export const UPLOAD_PATH = "/upload/youtube/v3/videos";
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

function checkMediaType({ call }: YoutubeCall): void {
  const type = call.headers["x-upload-content-type"];
  if (type !== undefined && (typeof type !== "string" || !VIDEO_TYPE.test(type))) {
    const message = `Media type '${String(type)}' is not supported. Valid media types: [video/*, application/octet-stream]`;
    refuse(400, "badContent", { message });
  }
}

function begin(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, channel, now } = youtubeCall;
  if (requireParameter(call.query, "uploadType") !== "resumable") {
    return refuse(400, "badRequest", { message: "Only resumable uploads are simulated." });
  }
  const parts = partsOf(call.query, ["snippet", "status"]);
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  const metadata = parseVideo(body, parts, now);
  checkMediaType(youtubeCall);
  const totalBytes = announcedBytes(youtubeCall);
  spendChannelUpload(network.world, channel.externalId, now);
  const notifySubscribers = call.query.get("notifySubscribers") !== "false";
  const about = {
    channel: channel.externalId,
    metadata: { ...metadata, notifySubscribers },
    totalBytes,
  };
  const { id } = network.uploads.begin(about, now);
  const query = new URLSearchParams({
    uploadType: "resumable",
    part: [...parts].join(","),
    upload_id: id,
  });
  const location = `${call.baseUrl}${UPLOAD_PATH}?${query.toString()}`;
  const headers = { location, "x-guploader-uploadid": id, "content-length": "0" };
  return { status: 200, headers, body: "" };
}

/**
 * `POST /upload/youtube/v3/videos`: starts a YouTube upload session. The video does not exist
 * before its last byte arrives.
 */
export function beginUpload(network: YoutubeNetwork): Endpoint {
  return {
    method: "POST",
    path: UPLOAD_PATH,
    operations: () => ["create"],
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
    handle: (call) => begin(network, call),
  };
}
