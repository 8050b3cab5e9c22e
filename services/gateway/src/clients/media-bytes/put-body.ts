import * as http from "node:http";
import * as https from "node:https";
import { buffer } from "node:stream/consumers";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { notePassingBytes } from "@postrider/shared/process/passing-bytes";

const CONNECT_TIMEOUT_MS = 2_000;
/** Media has the last byte and makes it durable; a disk may take its time over a gigabyte. */
const STORE_TIMEOUT_MS = 120_000;

export interface BodyToPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of which nothing has been read yet. */
  readonly source: http.IncomingMessage;
}

export interface PutAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Passes the body of `source` on, piece by piece as it comes: through Node's own client, which does nothing else to it.
 * When the peer answers early or breaks off, the connection of `source` stays for the answer; when `source` breaks off,
 * the peer sees a cut body and not a whole one.
 */
export async function putBody({ url, headers, source }: BodyToPut): Promise<PutAnswer> {
  const sent = open(url, headers);
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  sent.once("response", resolve);
  sent.on("error", reject);
  const breakOff = (): void => {
    if (!source.complete) sent.destroy(new Error("the client broke off"));
  };
  source.once("close", breakOff);
  if (source.destroyed) breakOff();
  source.on("data", notePiece);
  source.pipe(sent);
  try {
    const answer = await promise;
    return { status: answer.statusCode ?? 0, body: await buffer(answer) };
  } finally {
    source.off("close", breakOff);
    source.off("data", notePiece);
    source.unpipe(sent);
    sent.destroy();
  }
}

function notePiece({ length }: Buffer): void {
  notePassingBytes(length);
}

/**
 * A connection of its own: one that was kept could turn out to be dead, and an upload is not repeated. But the peer is
 * not told so: a server that is to close resets the connection of a body that it refuses, and its answer is lost.
 */
function open(url: string, headers: BodyToPut["headers"]): http.ClientRequest {
  const { request } = url.startsWith("https:") ? https : http;
  const sent = request(url, {
    method: "PUT",
    agent: false,
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
