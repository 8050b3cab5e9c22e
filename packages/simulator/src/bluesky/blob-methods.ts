import { createHash } from "node:crypto";
import type { Upload } from "#src/bluesky/blobs.ts";
import { inputBytes, requireAuth, type XrpcCall, type XrpcMethod } from "#src/bluesky/endpoint.ts";
import { statusError } from "#src/bluesky/errors.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { type Call, Refused, type Reply } from "#src/http/call.ts";
import { receive } from "#src/world/received-media.ts";

const MAX_BLOB_BYTES = 50_000_000;
const UPLOADS_PER_DAY = 1000;
const DAY_MS = 86_400_000;

/** For a file of an unknown format, the Content-Type header states its type. */
export function uploadOf(call: Call): Upload {
  const { bytes, mimeType } = inputBytes(call);
  const received = receive([bytes]);
  return {
    sha256: received?.sha256 ?? createHash("sha256").update(bytes).digest("hex"),
    size: bytes.length,
    mimeType: received?.contentType ?? mimeType,
    received,
  };
}

function uploadBlob(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  const did = account.externalId;
  xrpc.spend([{ key: `bluesky:uploads:${did}`, limit: UPLOADS_PER_DAY, windowMs: DAY_MS }]);
  if (xrpc.call.body.length > MAX_BLOB_BYTES) throw new Refused(statusError(413));

  const blob = network.blobs.add(did, uploadOf(xrpc.call), xrpc.now);
  return { status: 200, body: { blob } };
}

export const BLOB_METHODS: readonly XrpcMethod[] = [
  {
    nsid: "com.atproto.repo.uploadBlob",
    kind: "procedure",
    operations: () => ["upload"],
    handle: uploadBlob,
  },
];
