import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { FastifyInstance } from "fastify";

/** How long the rest of a refused request body is read and discarded, so that its sender receives the answer. */
const DISCARD_MS = 5_000;

/** Makes sure that a client receives the answer to a request whose body was not read completely. */
export function addUnreadBodies(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, text, sent) => {
    const isUnread = !request.raw.complete && !request.raw.destroyed;
    if (typeof text !== "string" || !isUnread) {
      sent(null, text);
      return;
    }
    reply.header("content-length", Buffer.byteLength(text));
    sent(null, answerUnread(request.raw, text));
  });
}

/**
 * Returns an answer that ends only when the rest of the request body has been received and discarded, or when this
 * takes too long. Closing a connection with unread bytes resets it, and the client would lose the answer.
 */
function answerUnread(request: IncomingMessage, text: string): Readable {
  async function* answer(): AsyncGenerator<string> {
    yield text;
    request.resume();
    try {
      await finished(request, { signal: AbortSignal.timeout(DISCARD_MS) });
    } catch {
      request.socket.destroy();
    }
  }
  return Readable.from(answer(), { objectMode: false });
}
