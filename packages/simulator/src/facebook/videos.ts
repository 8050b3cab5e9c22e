import {
  checkMayPublishVideos,
  checkMessage,
  checkPage,
  isPublishing,
} from "#src/facebook/feed.ts";
import type { FacebookNetwork, FacebookVideo } from "#src/facebook/network.ts";
import {
  FRAME_RATE,
  isTooSlowOrFast,
  processedAt,
  progressOf,
  publishVideo,
} from "#src/facebook/publishing.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { receivedBytes } from "#src/graph/host.ts";
import { parametersOf } from "#src/graph/parameters.ts";
import { ruploadUrl } from "#src/graph/rupload.ts";
import type { Call, Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import { DAY_MS } from "#src/world/limits.ts";

const PHASES = ["start", "transfer", "finish"] as const;
const CHUNK_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 10_000_000_000;

function beginVideo(
  network: FacebookNetwork,
  { account, now }: GraphCall,
  given: Pick<FacebookVideo, "kind"> & Partial<FacebookVideo>,
): FacebookVideo {
  const id = network.world.snowflakes.next(now);
  const video: FacebookVideo = {
    id,
    page: account.externalId,
    fileSize: 0,
    title: "",
    description: "",
    createdAt: now,
    finishedAt: null,
    publishedAt: null,
    deletedAt: null,
    ...given,
  };
  network.videos.put(id, video);
  network.uploads.begin(id, account.externalId);
  return video;
}

function textsOf({ parameters }: GraphCall): Pick<FacebookVideo, "title" | "description"> {
  return {
    title: parameters.text("title"),
    description: checkMessage("description", parameters.text("description")),
  };
}

function finishUpload(network: FacebookNetwork, graphCall: GraphCall, video: FacebookVideo): void {
  const { parameters, account, now } = graphCall;
  const finished = { ...video, ...textsOf(graphCall), finishedAt: now };
  network.videos.put(video.id, finished);
  if (parameters.flag("published", true))
    publishVideo(network, account, finished, processedAt(network, finished, now));
}

function uploadWhole(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, fetched, now } = graphCall;
  parameters.checkNames(["source", "file_url", "title", "description", "published"]);
  const source = parameters.file("source");
  const file = source === undefined ? fetched.get(parameters.required("file_url")) : undefined;
  const bytes = file?.kind === "file" ? file.bytes : source;
  if (bytes === undefined)
    return refuseGraph({ code: 389, subcode: 1_363_030, message: "Unable to fetch video file." });
  const video = beginVideo(network, graphCall, { kind: "video", fileSize: bytes.length });
  const upload = network.uploads.find(video.id) ?? network.uploads.begin(video.id, video.page);
  network.uploads.complete(network.uploads.append(upload, bytes), now);
  finishUpload(network, graphCall, video);
  return { status: 200, body: { id: video.id } };
}

function start(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, now } = graphCall;
  parameters.checkNames(["upload_phase", "file_size", "published"]);
  const fileSize = parameters.number("file_size");
  if (fileSize < 1 || fileSize > MAX_BYTES)
    refuseParameter("Param file_size is out of range.", 1_363_023);
  const session = network.world.snowflakes.next(now);
  const video = beginVideo(network, graphCall, { kind: "video", fileSize });
  network.sessions.put(session, video.id);
  const offsets = { start_offset: "0", end_offset: String(Math.min(CHUNK_BYTES, fileSize)) };
  const body = { upload_session_id: session, video_id: video.id, ...offsets };
  return { status: 200, body };
}

function requireSessionVideo(
  network: FacebookNetwork,
  { parameters, account }: GraphCall,
): FacebookVideo {
  const id = network.sessions.get(parameters.required("upload_session_id"));
  const video = network.videos.get(id ?? "");
  return video === undefined || video.page !== account.externalId || video.deletedAt !== null
    ? refuseGraph({ code: 6000, subcode: 1_363_041, message: "The upload session is not valid." })
    : video;
}

function offsetsOf({ fileSize }: FacebookVideo, present: number): Record<string, string> {
  const next = Math.min(fileSize, present + CHUNK_BYTES);
  return { start_offset: String(present), end_offset: String(next) };
}

function transfer(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, now } = graphCall;
  parameters.checkNames(["upload_phase", "upload_session_id", "start_offset", "video_file_chunk"]);
  const video = requireSessionVideo(network, graphCall);
  const upload = network.uploads.find(video.id) ?? network.uploads.begin(video.id, video.page);
  const present = receivedBytes(upload);
  const chunk = parameters.file("video_file_chunk");
  const isNextChunk = parameters.number("start_offset") === present && upload.completedAt === null;
  const fitsFileSize = chunk !== undefined && present + chunk.length <= video.fileSize;
  if (chunk === undefined || chunk.length === 0 || !isNextChunk || !fitsFileSize) {
    const data = offsetsOf(video, present);
    const message = "The chunk does not follow what was uploaded.";
    return refuseGraph({ code: 6001, subcode: 1_363_037, message, data });
  }
  const next = network.uploads.append(upload, chunk);
  if (present + chunk.length === video.fileSize) network.uploads.complete(next, now);
  return { status: 200, body: offsetsOf(video, present + chunk.length) };
}

function finish(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters } = graphCall;
  const names = ["upload_phase", "upload_session_id", "title", "description", "published"];
  parameters.checkNames(names);
  const video = requireSessionVideo(network, graphCall);
  const upload = network.uploads.find(video.id);
  if (upload === undefined || upload.completedAt === null)
    refuseGraph({ code: 6000, subcode: 1_363_026, message: "The upload is not complete." });
  if (video.finishedAt === null) finishUpload(network, graphCall, video);
  return { status: 200, body: { success: true } };
}

export function createVideo(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters } = graphCall;
  checkPage(graphCall);
  checkMayPublishVideos(network);
  if (!parameters.has("upload_phase")) return uploadWhole(network, graphCall);
  switch (parameters.oneOf("upload_phase", PHASES)) {
    case "start":
      return start(network, graphCall);
    case "transfer":
      return transfer(network, graphCall);
    case "finish":
      return finish(network, graphCall);
  }
}

export function videoOperations(call: Call): Operations {
  switch (parametersOf(call).text("upload_phase")) {
    case "start":
      return ["create"];
    case "transfer":
      return ["upload"];
    case "finish":
      return isPublishing(call) ? ["publish"] : ["create"];
    default:
      return isPublishing(call) ? ["publish", "create"] : ["upload", "create"];
  }
}

const REEL_PHASES = ["start", "finish"] as const;
const STATES = ["PUBLISHED", "DRAFT"] as const;
const REELS_PER_DAY = 30;

export const REEL_EDGE = "video-upload";

function startReel(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, call, version } = graphCall;
  parameters.checkNames(["upload_phase"]);
  const { id } = beginVideo(network, graphCall, { kind: "reel" });
  const uploadUrl = ruploadUrl(call, REEL_EDGE, version, id);
  return { status: 200, body: { video_id: id, upload_url: uploadUrl } };
}

function ownReel(network: FacebookNetwork, { parameters, account }: GraphCall): FacebookVideo {
  const id = parameters.required("video_id");
  const video = network.videos.get(id);
  const isOwn = video?.page === account.externalId && video.kind === "reel";
  return video === undefined || !isOwn || video.deletedAt !== null ? refuseObject(id) : video;
}

function spendReel(network: FacebookNetwork, { account, now }: GraphCall): void {
  const key = `facebook:reels:${account.externalId}`;
  const rule = { key, limit: REELS_PER_DAY, windowMs: DAY_MS };
  if (!network.world.limits.take(rule, now))
    refuseGraph({ code: 613, message: "Calls to this api have exceeded the rate limit." });
}

function finishReel(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now } = graphCall;
  parameters.checkNames(["upload_phase", "video_id", "video_state", "title", "description"]);
  const video = ownReel(network, graphCall);
  const state = parameters.oneOf("video_state", STATES);
  switch (progressOf(network, video, now)) {
    case "uploading":
      return refuseGraph({ code: 6000, subcode: 1_363_026, message: "The upload is not complete" });
    case "failed":
      return isTooSlowOrFast(network, video)
        ? refuseParameter(FRAME_RATE, 1_363_129)
        : refuseParameter("The resolution of the reel is not supported.", 1_363_127);
    case "processing":
    case "ready":
  }
  if (video.publishedAt === null && state === "PUBLISHED") spendReel(network, graphCall);
  const title = parameters.text("title");
  const description = checkMessage("description", parameters.text("description"));
  const finished = { ...video, title, description, finishedAt: video.finishedAt ?? now };
  network.videos.put(video.id, finished);
  if (state === "PUBLISHED")
    publishVideo(network, account, finished, processedAt(network, finished, now));
  return { status: 200, body: { success: true } };
}

/** Between the two calls, the client sends the bytes to the upload URL. */
export function createReel(network: FacebookNetwork, graphCall: GraphCall): Reply {
  checkPage(graphCall);
  checkMayPublishVideos(network);
  return graphCall.parameters.oneOf("upload_phase", REEL_PHASES) === "start"
    ? startReel(network, graphCall)
    : finishReel(network, graphCall);
}

export function reelOperations(call: Call): Operations {
  return parametersOf(call).text("upload_phase") === "finish" ? ["publish"] : ["create"];
}
