import {
  checkMayPublishVideos,
  checkMessage,
  checkPage,
  isPublishing,
} from "#src/facebook/feed.ts";
import type { FacebookNetwork, FacebookVideo } from "#src/facebook/network.ts";
import { publishVideo } from "#src/facebook/publishing.ts";
import { processedAt } from "#src/facebook/video-state.ts";
import type { Operation } from "#src/faults/rule.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseParameter } from "#src/graph/errors.ts";
import { parametersOf } from "#src/graph/parameters.ts";
import { receivedBytes } from "#src/graph/rupload.ts";
import type { Call, Reply } from "#src/http/call.ts";

const PHASES = ["start", "transfer", "finish"] as const;
const CHUNK_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 10_000_000_000;

export function beginVideo(
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

function create(network: FacebookNetwork, graphCall: GraphCall): Reply {
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

function operationsOf(call: Call): readonly [Operation, ...Operation[]] {
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

export function createVideo(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/videos",
    operations: operationsOf,
    scope: "pages_manage_posts",
    fetches: ["file_url"],
    handle: (graphCall) => create(network, graphCall),
  };
}
