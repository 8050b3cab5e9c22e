import { createHash, randomUUID } from "node:crypto";
import { jobView, PROCESSING_MS, type Upload, type VideoJob } from "#src/bluesky/blobs.ts";
import { refuse, refuseInput, statusError } from "#src/bluesky/errors.ts";
import { blobCidOf } from "#src/bluesky/ids.ts";
import {
  type BlueskyNetwork,
  inputBytes,
  queryText,
  requireAuth,
  type XrpcCall,
} from "#src/bluesky/network.ts";
import { bearerToken, type Call, contentType, Refused, type Reply } from "#src/http/call.ts";
import { receive } from "#src/world/received-media.ts";

const MAX_BLOB_BYTES = 50_000_000;
const UPLOADS_PER_DAY = 1000;
const DAY_MS = 86_400_000;

/** For a file of an unknown format, the Content-Type header states its type. */
function uploadOf(call: Call): Upload {
  const { bytes, mimeType } = inputBytes(call);
  const received = receive([bytes]);
  return {
    sha256: received?.sha256 ?? createHash("sha256").update(bytes).digest("hex"),
    size: bytes.length,
    mimeType: received?.contentType ?? mimeType,
    received,
  };
}

export function uploadBlob(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  const did = account.externalId;
  xrpc.spend([{ key: `bluesky:uploads:${did}`, limit: UPLOADS_PER_DAY, windowMs: DAY_MS }]);
  if (xrpc.call.body.length > MAX_BLOB_BYTES) throw new Refused(statusError(413));
  const blob = network.blobs.add(did, uploadOf(xrpc.call), xrpc.now);
  return { status: 200, body: { blob } };
}

export const MAX_VIDEO_BYTES = 300_000_000;

const DID = /^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$/;
const UPLOAD_BLOB = "com.atproto.repo.uploadBlob";
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The service token for a video upload must name this DID as its audience. */
function serverDid({ baseUrl }: Call): string {
  return `did:web:${encodeURIComponent(new URL(baseUrl).host)}`;
}

function expiryOf(call: Call, lxm: string | null, now: number): number {
  const exp = call.query.get("exp");
  if (exp === null) return now + MINUTE_MS;
  const expiresAt = Number(exp) * 1000;
  if (!Number.isSafeInteger(expiresAt)) refuseInput("Params/exp must be an integer");
  if (expiresAt <= now) refuse(400, "BadExpiration", "expiration is in past");
  // Accepts a service token whose remaining lifetime exceeds the maximum by at most a minute,
  // because the client's clock may be ahead of the platform's clock.
  if (expiresAt > now + HOUR_MS + MINUTE_MS || (lxm === null && expiresAt > now + 2 * MINUTE_MS))
    refuse(400, "BadExpiration", "expiration is too far in the future");
  return expiresAt;
}

export function getServiceAuth(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  const aud = queryText(xrpc.call, "aud");
  const lxm = xrpc.call.query.get("lxm");
  if (!DID.test(aud)) refuseInput("Params/aud must be a valid did");
  const expiresAt = expiryOf(xrpc.call, lxm, xrpc.now);
  const token = network.serviceTokens.issue({ did: account.externalId, aud, lxm, expiresAt });
  return { status: 200, body: { token } };
}

/**
 * Refuses the call unless its service token lets the video service upload blobs for the account.
 */
function requireUploader(network: BlueskyNetwork, { call, now }: XrpcCall): string {
  const text = bearerToken(call) ?? refuse(401, "AuthMissing", "Authentication Required");
  const token = network.serviceTokens.find(text);
  if (token === undefined || token.lxm !== UPLOAD_BLOB || token.aud !== serverDid(call))
    return refuse(401, "InvalidToken", "Token could not be verified");
  return now < token.expiresAt ? token.did : refuse(401, "ExpiredToken", "Token has expired");
}

function findEarlier(
  network: BlueskyNetwork,
  did: string,
  { sha256, received }: Upload,
  now: number,
): VideoJob | undefined {
  const cid = blobCidOf(sha256);
  const job = network.videoJobs.findByContent(did, cid);
  const isOpen = job !== undefined && now < job.startedAt + PROCESSING_MS;
  return isOpen || (received !== undefined && network.blobs.has(did, cid, now)) ? job : undefined;
}

/**
 * Maximum number of videos per account and day; Bluesky states it in
 * `app.bsky.video.getUploadLimits`.
 */
const VIDEOS_PER_DAY = 25;

function spendVideo({ world }: BlueskyNetwork, did: string, now: number): void {
  const rule = { key: `bluesky:videos:${did}`, limit: VIDEOS_PER_DAY, windowMs: 24 * HOUR_MS };
  if (!world.limits.take(rule, now))
    refuse(400, "DailyLimitExceeded", "Daily limit of videos reached");
}

export function uploadVideo(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { call, now } = xrpc;
  const did = requireUploader(network, xrpc);
  queryText(call, "name");
  if (queryText(call, "did") !== did) refuse(401, "InvalidToken", "Token is of another account");
  if (contentType(call) !== "video/mp4")
    refuse(400, "UnsupportedContentType", "Only video/mp4 is supported");
  const upload = uploadOf(call);
  const earlier = findEarlier(network, did, upload, now);
  if (earlier !== undefined) {
    const conflict = { error: "already_exists", message: "Video already processed" };
    return { status: 409, body: { ...jobView(earlier, now), ...conflict } };
  }
  spendVideo(network, did, now);
  const isVideo = upload.received?.contentType === "video/mp4";
  const blob = isVideo ? network.blobs.add(did, upload, now + PROCESSING_MS) : null;
  const jobId = randomUUID();
  const job = network.videoJobs.put({ jobId, did, upload, blob, startedAt: now });
  return { status: 200, body: { jobStatus: jobView(job, now) } };
}

export function getJobStatus(network: BlueskyNetwork, { call, asOf }: XrpcCall): Reply {
  const job = network.videoJobs.find(queryText(call, "jobId")) ?? refuseInput("Job not found");
  return { status: 200, body: { jobStatus: jobView(job, asOf) } };
}
