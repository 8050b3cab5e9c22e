import { bearerToken, type Call, type Moment, type Reply } from "#src/http/call.ts";
import type { Operations, Route } from "#src/platform.ts";
import { refuse } from "#src/youtube/errors.ts";
import { makeVideo, UPLOAD_PATH, videoReply } from "#src/youtube/insert-video.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import type { Upload } from "#src/youtube/uploads.ts";

type UploadRange =
  | { readonly kind: "query"; readonly total: number | undefined }
  | {
      readonly kind: "bytes";
      readonly first: number;
      readonly last: number;
      readonly total: number | undefined;
    };

const CONTENT_RANGE = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/;

/** `bytes FIRST-LAST/TOTAL`, in which `*` can stand for the range or for the total. */
function parseRange(header: string): UploadRange | undefined {
  const [whole, first, last, size] = CONTENT_RANGE.exec(header) ?? [];
  if (whole === undefined) return undefined;
  const total = size === "*" ? undefined : Number(size);
  return first === undefined
    ? { kind: "query", total }
    : { kind: "bytes", first: Number(first), last: Number(last), total };
}

/** Without the header, the body is the whole file. */
function readRange({ headers, body }: Call): UploadRange | undefined {
  const header = headers["content-range"];
  const length = body.length;
  if (header === undefined)
    return length === 0 ? undefined : { kind: "bytes", first: 0, last: length - 1, total: length };
  const range = parseRange(header);
  const isOrdered =
    range?.kind !== "bytes" ||
    (range.first <= range.last && range.last < (range.total ?? Infinity));
  return isOrdered ? range : undefined;
}

function hasLastByte(range: UploadRange | undefined): boolean {
  return range?.kind === "bytes" && range.last + 1 === range.total;
}

function refuseRange(): never {
  return refuse(400, "badRequest", {
    message: "Failed to parse Content-Range header.",
    location: "Content-Range",
  });
}

/** Every part but the last must be a multiple of this. */
const CHUNK_BYTES = 256 * 1024;

const PARTS: ReadonlySet<string> = new Set(["snippet", "status"]);

const UNKNOWN_SESSION: Reply = { status: 404, body: "Not Found" };

function sessionIdOf(call: Call): string {
  return call.query.get("upload_id") ?? "";
}

export function uploadOwner(network: YoutubeNetwork, call: Call): string | undefined {
  return call.path === UPLOAD_PATH ? network.uploads.ownerOf(sessionIdOf(call)) : undefined;
}

/** A call without a token is allowed, because the session's URL itself authorizes it. */
function checkToken(network: YoutubeNetwork, call: Call, upload: Upload, now: number): void {
  const owner = network.tokens.accessOf(call, now)?.account.externalId;
  if (bearerToken(call) !== undefined && owner !== upload.channel)
    refuse(401, "authError", { location: "Authorization" });
}

/** While no byte has arrived, there is no `Range` header. */
function incomplete({ storedBytes }: Upload): Reply {
  const range = storedBytes === 0 ? {} : { range: `bytes=0-${storedBytes - 1}` };
  return { status: 308, headers: { ...range, "content-length": "0" }, body: "" };
}

function checkTotal({ totalBytes }: Upload, { total }: UploadRange): void {
  if (total !== undefined && totalBytes !== null && total !== totalBytes)
    refuse(400, "badRequest", {
      message: `Invalid request. The upload has ${totalBytes} bytes, not ${total}.`,
      location: "Content-Range",
    });
}

type Bytes = Extract<UploadRange, { kind: "bytes" }>;

function checkBytes({ storedBytes }: Upload, range: Bytes, length: number): void {
  if (range.last - range.first + 1 !== length) refuseRange();
  if (!hasLastByte(range) && length % CHUNK_BYTES !== 0)
    refuse(400, "badRequest", {
      message:
        "Invalid request. The number of bytes uploaded is required to be equal or greater than 262144, except for the final request (it's recommended to be the exact multiple of 262144).",
    });
  if (range.first > storedBytes)
    refuse(400, "badRequest", {
      message: `Invalid request. According to the Content-Range header, the upload offset is ${range.first} byte(s), which exceeds already uploaded size of ${storedBytes} byte(s).`,
    });
}

/** Bytes that already arrived are ignored, as Google's documentation of resumable uploads says. */
function append(network: YoutubeNetwork, upload: Upload, range: Bytes, body: Buffer): Upload {
  checkBytes(upload, range, body.length);
  return network.uploads.append(upload, body.subarray(upload.storedBytes - range.first));
}

function repeat(network: YoutubeNetwork, upload: Upload, range: UploadRange, now: number): Reply {
  const video = network.videos.get(upload.videoId ?? "");
  if (video === undefined) return UNKNOWN_SESSION;
  if (range.kind === "bytes") network.videos.countRepeat(video);
  return videoReply(network, video, { status: 200, parts: PARTS, now });
}

function put(network: YoutubeNetwork, call: Call, { now }: Moment): Reply {
  const upload = network.uploads.find(sessionIdOf(call), now);
  if (upload === undefined) return UNKNOWN_SESSION;
  checkToken(network, call, upload, now);
  const range = readRange(call) ?? refuseRange();
  checkTotal(upload, range);
  if (upload.videoId !== undefined) return repeat(network, upload, range, now);
  if (range.kind === "query") return incomplete(upload);
  const extended = append(network, upload, range, call.body);
  return extended.storedBytes === range.total
    ? videoReply(network, makeVideo(network, extended, now), { status: 201, parts: PARTS, now })
    : incomplete(extended);
}

function rangeOperations(call: Call): Operations {
  const range = readRange(call);
  if (range?.kind === "query") return ["status"];
  return hasLastByte(range) ? ["publish"] : ["upload"];
}

export function uploadRoute(network: YoutubeNetwork): Route {
  return {
    method: "PUT",
    path: UPLOAD_PATH,
    operations: rangeOperations,
    handle: (call, moment) => put(network, call, moment),
  };
}
