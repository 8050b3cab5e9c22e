import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { toTls } from "@postrider/shared/connect/client";
import { isConnectionError, isTimeout } from "@postrider/shared/connect/exchange";
import { CONNECT_TIMEOUT_MS, tryConnections } from "@postrider/shared/connect/try-connections";
import { invalidRequest, notFound, ServiceError, unavailable } from "@postrider/shared/errors";
import { toServiceError } from "@postrider/shared/errors/connect";
import type { OwnIdentity } from "@postrider/shared/identity/settings";
import { createIdentitySource, type IdentitySource } from "@postrider/shared/identity/token-source";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
import { outgoingHeaders } from "@postrider/shared/telemetry/cause";
import { Agent, request, type Dispatcher } from "undici";
import { putBody } from "#src/clients/put-body.ts";

export interface Upload {
  readonly uploadPath: string;
  readonly token: string;
  readonly address: string;
  readonly requestId: string;
  readonly source: IncomingMessage;
}

export interface ObjectRequest {
  readonly workspaceId: string;
  readonly mediaId: string;
  readonly rendition: string;
  readonly requestId: string;
  /** Such as `bytes=0-99`; undefined for the whole file. */
  readonly range: string | undefined;
}

export interface ObjectAnswer {
  /** 200, 206, 416 for a range outside of the file, or 204 for media without a preview. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read without delay, because it occupies a connection. Empty with 204 and 416. */
  readonly body: Readable;
}

export interface ObjectDescription {
  readonly contentType: string;
  readonly bytes: bigint;
  readonly etag: string;
}

/** The README of the media service describes both routes. */
export interface MediaBytes extends AsyncDisposable {
  /**
   * @throws ServiceError Of the media service; `invalid_request`, `unavailable` for disconnects.
   */
  upload(upload: Upload): Promise<void>;
  /** @throws ServiceError `not_found`; `unavailable`, also without a free permit. */
  open(object: ObjectRequest): Promise<ObjectAnswer>;
  /** @throws ServiceError `not_found`, `unavailable`. */
  describe(object: Omit<ObjectRequest, "range">): Promise<ObjectDescription>;
}

export interface MediaBytesOptions {
  readonly baseUrl: string;
  readonly identity: OwnIdentity;
  /** Maximum number of concurrent uploads, and of concurrent downloads. Default: 256. */
  readonly maxInFlight?: number;
}

const OPEN_TIMEOUT_MS = 10_000;
const READ = { timeoutMs: OPEN_TIMEOUT_MS, isRead: true };
/** Between two chunks of a download. */
const STALL_TIMEOUT_MS = 30_000;
const FORWARDED = ["content-type", "content-length", "content-digest"];
const EXPECTED_STATUSES = new Set([200, 204, 206, 416]);

interface UploadPeer {
  readonly baseUrl: string;
  /** Proves to the media service that the gateway calls. */
  readonly identity: IdentitySource;
  /** PEM of the authority of the server's certificate; undefined = the public ones. */
  readonly ca?: string | undefined;
  /** Without a permit or share, a transfer is refused: the running ones may be slow. */
  readonly permits: Semaphore;
}

interface Peer extends UploadPeer {
  readonly dispatcher: Dispatcher;
}

export function createMediaBytes(options: MediaBytesOptions): MediaBytes {
  const { baseUrl, maxInFlight: max = 256 } = options;
  const identity = createIdentitySource(options.identity, "media");
  const downloads = new Agent({
    connections: max,
    ...toTls(options.identity),
    connectTimeout: CONNECT_TIMEOUT_MS,
    headersTimeout: OPEN_TIMEOUT_MS,
    bodyTimeout: STALL_TIMEOUT_MS,
  });
  const { ca } = options.identity;
  const up = { baseUrl, identity, ca, permits: new Semaphore({ total: max }) };
  const permits = new Semaphore({ total: max });
  const down = { baseUrl, identity, dispatcher: downloads, permits };
  return {
    upload: (one) => upload(up, one),
    open: (object) => open(down, object),
    describe: (object) => describe(down, object),
    [Symbol.asyncDispose]: () => downloads.close(),
  };
}

async function upload({ permits, baseUrl, identity, ca }: UploadPeer, one: Upload): Promise<void> {
  const { source, address } = one;
  // An upload grant allows one transfer at a time. Transfers are counted under a key that contains
  // the grant's secret. So a client without the secret cannot keep the owner of the grant from
  // uploading.
  const shares = transferShares({ address, grant: `${one.uploadPath} ${one.token}` });
  using _permit = await permits.acquire({ shares });
  try {
    const { status, body } = await putBody({
      url: `${baseUrl}/uploads/${encodeURIComponent(one.uploadPath)}`,
      headers: {
        ...forwardedHeaders(source),
        ...outgoingHeaders(),
        ...(await identity()),
        "x-upload-token": one.token,
        "x-request-id": one.requestId,
      },
      source,
      ca,
    });
    if (status !== 204) throw toError(status, body);
  } catch (error) {
    // The client has disconnected and cannot receive this error, so the error only appears in the
    // log.
    throw source.destroyed && !source.complete ? invalidRequest() : toKnownError(error);
  }
}

async function open(peer: Peer, object: ObjectRequest): Promise<ObjectAnswer> {
  const { permits, dispatcher } = peer;
  const { workspaceId, mediaId, range } = object;
  const permit = await permits.acquire({ shares: transferShares({ workspaceId, file: mediaId }) });
  try {
    const headers = await headersOf(peer, object);
    const read = async () =>
      await request(addressOf(peer, object), {
        headers: range === undefined ? headers : { ...headers, range },
        dispatcher,
      });
    const answer = await tryConnections(read, READ);
    if (!EXPECTED_STATUSES.has(answer.statusCode))
      throw toError(answer.statusCode, new Uint8Array(await answer.body.arrayBuffer()));

    answer.body.once("close", () => permit[Symbol.dispose]());
    if (answer.statusCode === 204 || answer.statusCode === 416) await answer.body.dump();
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  } catch (error) {
    permit[Symbol.dispose]();
    throw toKnownError(error);
  }
}

async function describe(
  peer: Peer,
  object: Omit<ObjectRequest, "range">,
): Promise<ObjectDescription> {
  try {
    const own = await headersOf(peer, object);
    const { dispatcher } = peer;
    const read = async () =>
      await request(addressOf(peer, object), { method: "HEAD", headers: own, dispatcher });
    const { statusCode, headers } = await tryConnections(read, READ);
    const { etag, "content-type": contentType, "content-length": length } = headers;
    // An answer to a HEAD request has no body. So the error is derived from the HTTP status alone.
    if (statusCode === 404) throw notFound();
    if (statusCode !== 200) throw unavailable();
    if (typeof etag !== "string" || typeof contentType !== "string" || typeof length !== "string")
      throw unavailable();
    return { contentType, etag, bytes: BigInt(length) };
  } catch (error) {
    throw toKnownError(error);
  }
}

function addressOf({ baseUrl }: Peer, object: Omit<ObjectRequest, "range">): string {
  const path = [object.workspaceId, object.mediaId].map(encodeURIComponent).join("/");
  return `${baseUrl}/objects/${path}?rendition=${encodeURIComponent(object.rendition)}`;
}

async function headersOf({ identity }: Peer, { requestId }: Pick<ObjectRequest, "requestId">) {
  return { ...outgoingHeaders(), ...(await identity()), "x-request-id": requestId };
}

/** Without a length, the media service could not tell an absent body from a chunked one. */
function forwardedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const found = FORWARDED.map((name) => [name, headers[name]]);
  return {
    ...(isChunked ? {} : { "content-length": "0" }),
    ...Object.fromEntries(found.filter(([, value]) => typeof value === "string")),
  };
}

function toError(status: number, body: Uint8Array): ServiceError {
  const fallback = new ConnectError(`HTTP ${status}`, fallbackCode(status));
  try {
    return toServiceError(errorFromJsonBytes(body, undefined, fallback));
  } catch {
    return toServiceError(fallback);
  }
}

function fallbackCode(status: number): Code {
  return status === 404 ? Code.NotFound : codeFromHttpStatus(status);
}

function toKnownError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isTimeout(error))
    return new ServiceError("timeout", "upstream_timeout", [], { cause: error });
  if (isConnectionError(error)) return unavailable(error);
  return new ServiceError("internal", "internal", [], { cause: error });
}
