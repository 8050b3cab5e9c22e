import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { FastifyInstance } from "fastify";

/** How long a body that nobody wants may still come, so that its sender gets to read why. */
const LINGER_MS = 5_000;

/** A request that is answered before all of it has come gets to its answer all the same. */
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
 * An answer to a request of which not everything has come. The sender reads all of it at once, but the exchange ends only
 * when the rest is here and thrown away, or takes too long: a connection that is closed on bytes nobody has read is reset,
 * and the answer is lost with it.
 */
function answerUnread(request: IncomingMessage, text: string): Readable {
  async function* answer(): AsyncGenerator<string> {
    yield text;
    request.resume();
    try {
      await finished(request, { signal: AbortSignal.timeout(LINGER_MS) });
    } catch {
      request.socket.destroy();
    }
  }
  return Readable.from(answer(), { objectMode: false });
}
