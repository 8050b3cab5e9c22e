import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { isConnectionError, isTimeout } from "@postrider/shared/connect/exchange";
import { invalidRequest, ServiceError, unavailable } from "@postrider/shared/errors";
import { toServiceError } from "@postrider/shared/errors/connect";
import { outgoingHeaders } from "@postrider/shared/telemetry/cause";
import { Agent, request, type Dispatcher } from "undici";
import { putBody } from "#src/clients/media-bytes/put-body.ts";

export interface Upload {
  readonly uploadPath: string;
  readonly token: string;
  readonly requestId: string;
  /** The client's request, of which nothing has been read yet. */
  readonly source: IncomingMessage;
}

export interface ObjectRequest {
  readonly workspaceId: string;
  readonly mediaId: string;
  readonly rendition: string;
  readonly requestId: string;
  /** `bytes=…`; absent = all of it. */
  readonly range: string | undefined;
}

export interface ObjectAnswer {
  /** 200, 206, or 416 for a range that is not there. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** For the caller to read at once: left alone it holds a connection. Nothing with 416. */
  readonly body: Readable;
}

/** The bytes of media, on their way through the gateway: see services/media/README.md. */
export interface MediaBytes extends AsyncDisposable {
  /**
   * Passes the body of the client's request on as it comes, no faster than media takes it.
   *
   * @throws ServiceError What media says, `invalid_request` when the client broke off, `unavailable` when media did.
   */
  upload(upload: Upload): Promise<void>;
  /** @throws ServiceError `not_found`, `unavailable`. */
  open(object: ObjectRequest): Promise<ObjectAnswer>;
}

export interface MediaBytesOptions {
  /** The media service. */
  readonly baseUrl: string;
  readonly internalSecret: string;
  /** Uploads, and as many downloads, at the same time. Default 256: more would be served too slowly to be of use. */
  readonly maxInFlight?: number;
}

const OPEN_TIMEOUT_MS = 10_000;
/** Between two pieces of an object. */
const STALL_TIMEOUT_MS = 30_000;
const PASSED_ON = ["content-type", "content-length", "content-digest"];
const ANSWERED = new Set([200, 206, 416]);

interface UploadPeer {
  readonly baseUrl: string;
  readonly authorization: string;
  readonly slots: Slots;
}

interface Peer extends UploadPeer {
  readonly dispatcher: Dispatcher;
}

/** One direction's exchanges. */
interface Slots {
  readonly max: number;
  taken: number;
}

/** Nobody is kept waiting for a slow stranger: who comes when all is taken hears so at once. */
function takeSlot(slots: Slots): () => void {
  if (slots.taken >= slots.max) throw unavailable();
  slots.taken++;
  let isTaken = true;
  return () => {
    if (isTaken) slots.taken--;
    isTaken = false;
  };
}

export function createMediaBytes(options: MediaBytesOptions): MediaBytes {
  const { baseUrl, internalSecret, maxInFlight: max = 256 } = options;
  const authorization = `Bearer ${internalSecret}`;
  const downloads = new Agent({
    connections: max,
    connectTimeout: 2_000,
    headersTimeout: OPEN_TIMEOUT_MS,
    bodyTimeout: STALL_TIMEOUT_MS,
  });
  const up = { baseUrl, authorization, slots: { max, taken: 0 } };
  const down = { baseUrl, authorization, dispatcher: downloads, slots: { max, taken: 0 } };
  return {
    upload: (one) => upload(up, one),
    open: (object) => open(down, object),
    [Symbol.asyncDispose]: () => downloads.close(),
  };
}

async function upload({ slots, baseUrl, authorization }: UploadPeer, one: Upload): Promise<void> {
  const { source } = one;
  const release = takeSlot(slots);
  try {
    const { status, body } = await putBody({
      url: `${baseUrl}/uploads/${encodeURIComponent(one.uploadPath)}`,
      headers: {
        ...passedOn(source),
        ...outgoingHeaders(),
        authorization,
        "x-upload-token": one.token,
        "x-request-id": one.requestId,
      },
      source,
    });
    if (status !== 204) throw toError(status, body);
  } catch (error) {
    // Nobody is there to read it.
    throw source.destroyed && !source.complete ? invalidRequest() : toKnownError(error);
  } finally {
    release();
  }
}

async function open(
  { baseUrl, authorization, dispatcher, slots }: Peer,
  { workspaceId, mediaId, rendition, requestId, range }: ObjectRequest,
): Promise<ObjectAnswer> {
  const path = [workspaceId, mediaId].map(encodeURIComponent).join("/");
  const query = `rendition=${encodeURIComponent(rendition)}`;
  const headers = { ...outgoingHeaders(), authorization, "x-request-id": requestId };
  const release = takeSlot(slots);
  try {
    const answer = await request(`${baseUrl}/objects/${path}?${query}`, {
      headers: range === undefined ? headers : { ...headers, range },
      dispatcher,
    });
    if (!ANSWERED.has(answer.statusCode)) {
      throw toError(answer.statusCode, new Uint8Array(await answer.body.arrayBuffer()));
    }
    answer.body.once("close", release);
    if (answer.statusCode === 416) await answer.body.dump();
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  } catch (error) {
    release();
    throw toKnownError(error);
  }
}

/** Without a length there would be no telling a request without a body from one in chunks. */
function passedOn({ headers }: IncomingMessage): Record<string, string> {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const found = PASSED_ON.map((name) => [name, headers[name]]);
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
