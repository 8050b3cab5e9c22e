import { type Call, contentType, type Moment, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import { bareStatus } from "#src/tiktok/errors.ts";
import { complete, type TiktokNetwork } from "#src/tiktok/network.ts";
import {
  bytesAt,
  chunkLength,
  chunkNames,
  type Publish,
  type Upload,
} from "#src/tiktok/publishes.ts";
import { videoFailReason } from "#src/tiktok/pull.ts";
import { receive } from "#src/world/received-media.ts";

const TYPES: readonly string[] = ["video/mp4", "video/quicktime", "video/webm"];
const RANGE = /^bytes (\d+)-(\d+)\/(\d+)$/;

export const UPLOAD_PATH = "/open-upload/video/";

interface Range {
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

function rangeOf(call: Call): Range | undefined {
  const parts = RANGE.exec(call.headers["content-range"] ?? "");
  const [first, last, total] = (parts ?? []).slice(1).map(Number);
  return first === undefined || last === undefined || total === undefined
    ? undefined
    : { first, last, total };
}

interface OpenPublish extends Publish {
  readonly upload: Upload;
}

function findOpen(network: TiktokNetwork, call: Call): OpenPublish | undefined {
  const publish = network.publishes.byUpload(call.query.get("upload_id") ?? "");
  const upload = publish?.upload;
  const isOurs = upload !== undefined && upload.token === call.query.get("upload_token");
  return publish !== undefined && isOurs ? { ...publish, upload } : undefined;
}

/** Status 416 with the range of bytes that has arrived. */
function rangeNotSatisfiable({ upload }: OpenPublish, now: number): Reply {
  const bytes = bytesAt(upload, now);
  const range = bytes === 0 ? `bytes */${upload.size}` : `bytes 0-${bytes - 1}/${upload.size}`;
  return bareStatus(416, { "content-range": range });
}

function isNext({ upload }: OpenPublish, { first, last, total }: Range): boolean {
  const index = upload.chunkTimes.length;
  const start = index * upload.chunkSize;
  const isRight = index < upload.chunkCount && total === upload.size && first === start;
  return isRight && last === start + chunkLength(upload, index) - 1;
}

function putChunk(network: TiktokNetwork, call: Call, { now }: Moment): Reply {
  const publish = findOpen(network, call);
  if (publish === undefined || call.headers.authorization !== undefined)
    return bareStatus(publish === undefined ? 403 : 400);
  const { upload } = publish;
  if (now >= upload.expiresAt) return bareStatus(403);
  const range = rangeOf(call);
  const type = contentType(call);
  if (range === undefined || !TYPES.includes(type)) return bareStatus(400);
  if (!isNext(publish, range)) return rangeNotSatisfiable(publish, now);
  return call.body.length === range.last - range.first + 1
    ? append(network, publish, call, now)
    : bareStatus(400);
}

function append(network: TiktokNetwork, publish: OpenPublish, call: Call, now: number): Reply {
  const { upload } = publish;
  const filled = {
    ...upload,
    contentType: contentType(call),
    chunkTimes: [...upload.chunkTimes, now],
  };
  network.world.pieces.put(chunkNames(filled).at(-1) ?? "", call.body);
  const stored = network.publishes.put({ ...publish, upload: filled });
  if (filled.chunkTimes.length < upload.chunkCount) return bareStatus(206);
  finish(network, stored, filled, now);
  return bareStatus(201);
}

function finish(network: TiktokNetwork, publish: Publish, upload: Upload, now: number): void {
  const { pieces } = network.world;
  const received = receive(pieces.read(chunkNames(upload)));
  pieces.drop(chunkNames(upload));
  const failReason = videoFailReason(received);
  const media = received === undefined || failReason !== undefined ? [] : [received];
  complete(network, publish, { media, failReason, now });
}

function isLast(call: Call): boolean {
  const range = rangeOf(call);
  return range !== undefined && range.last === range.total - 1;
}

/** The upload URL itself authorizes the caller. */
export function uploadRoute(network: TiktokNetwork): Route {
  return {
    method: "PUT",
    path: UPLOAD_PATH,
    operations: (call) => (isLast(call) ? ["publish"] : ["upload"]),
    handle: (call, moment) => putChunk(network, call, moment),
  };
}
