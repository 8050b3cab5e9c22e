import * as http from "node:http";
import * as https from "node:https";
import { buffer } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ServiceError, unavailable } from "@postrider/shared/errors";

const CONNECT_TIMEOUT_MS = 2_000;
/** Without traffic. After the last byte, media makes the file durable, which takes long. */
const STORE_TIMEOUT_MS = 120_000;

interface BodyToPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: http.IncomingMessage;
  /** PEM of the authority of the server's certificate; undefined = the public ones. */
  readonly ca?: string | undefined;
}

interface PutAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Node's own client adds the least work per chunk. If `source` disconnects, the server gets an
 * incomplete body.
 */
export async function putBody({ url, headers, source, ca }: BodyToPut): Promise<PutAnswer> {
  const sent = open(url, headers, ca);
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  sent.once("response", resolve);
  sent.on("error", reject);
  const abort = (): void => {
    if (!source.complete) sent.destroy(new Error("the client disconnected"));
  };
  source.once("close", abort);
  if (source.destroyed) abort();
  source.on("data", noteChunk);
  source.pipe(sent);
  try {
    const answer = await promise;
    return { status: answer.statusCode ?? 0, body: await buffer(answer) };
  } finally {
    source.off("close", abort);
    source.off("data", noteChunk);
    source.unpipe(sent);
    sent.destroy();
  }
}

function noteChunk({ length }: Buffer): void {
  notePassingBytes(length);
}

/**
 * Opens a new connection for an upload, because a kept-alive connection could turn out to be closed
 * and an upload cannot be repeated. The request still sends `connection: keep-alive`: with `close`,
 * a server that refuses the body resets the connection, and its answer is lost.
 */
function open(
  url: string,
  headers: BodyToPut["headers"],
  ca: string | undefined,
): http.ClientRequest {
  const { request } = url.startsWith("https:") ? https : http;
  const sent = request(url, {
    method: "PUT",
    agent: false,
    ...(ca === undefined ? {} : { ca }),
    headers: { ...headers, connection: "keep-alive" },
  });
  sent.once("socket", (socket) => {
    socket.setTimeout(CONNECT_TIMEOUT_MS);
    socket.once("connect", () => socket.setTimeout(STORE_TIMEOUT_MS));
    socket.once("timeout", () => {
      const reason = socket.connecting
        ? unavailable()
        : new ServiceError("timeout", "upstream_timeout");
      sent.destroy(reason);
    });
  });
  return sent;
}

const COLLECT_BYTES = 16 * 1024 * 1024;

let uncollectedBytes = 0;
let collectYoung: (() => void) | undefined;

/** V8 exposes `gc` to contexts made after the flag is set: no command-line flag is needed. */
function findCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
  return () => gc({ type: "minor" });
}

/**
 * Collects garbage after every 16 MB of piped bodies; call it with the length of each chunk.
 *
 * A piped chunk is a 64 KB buffer outside V8's heap, so V8 does not collect until 64 MB have piled
 * up. With `--max-semi-space-size=2` and an upload of 1 GB, memory grows by 20 MB instead of 60 MB,
 * with 1.1 s instead of 1.5 s of processor time. Code that handles chunks in JavaScript collects
 * often enough by itself: uploads in media got slower with this call.
 */
export function notePassingBytes(bytes: number): void {
  uncollectedBytes += bytes;
  if (uncollectedBytes < COLLECT_BYTES) return;
  uncollectedBytes = 0;
  collectYoung ??= findCollector();
  collectYoung();
}
