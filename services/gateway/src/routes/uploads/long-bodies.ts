import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Patience } from "#src/routes/dependencies.ts";

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/** Watches uploads, which may take any time to arrive as long as they keep a minimum rate. */
export interface LongBodies {
  /**
   * Returns an error handler that lets an upload continue when the server's limit on the duration of a request is
   * reached.
   */
  exempt(answer: ClientErrorHandler): ClientErrorHandler;
  add(request: IncomingMessage, response: ServerResponse): void;
}

export function createLongBodies(
  patience: Pick<Patience, "stallMs" | "minBytesPerSecond">,
): LongBodies {
  const receiving = new WeakSet<Socket>();
  return {
    exempt: (answer) => (error, socket) => {
      const isTimeout = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
      if (!isTimeout || !receiving.has(socket)) answer(error, socket);
    },
    add: (request, response) => {
      const { socket } = request;
      receiving.add(socket);
      response.once("close", () => receiving.delete(socket));
      enforceMinimumRate(request, patience);
    },
  };
}

/**
 * Closes the connection of an upload when fewer bytes than the minimum rate requires arrive during an interval of
 * `stallMs`. Otherwise a client that sends single bytes would hold an upload permit forever. An interval does not count
 * if the gateway does not read at its end, because then the media service is the slow side. Once the body has arrived,
 * the media service may need any time to answer.
 */
function enforceMinimumRate(
  request: IncomingMessage,
  { stallMs, minBytesPerSecond }: Pick<Patience, "stallMs" | "minBytesPerSecond">,
): void {
  const { socket } = request;
  const minBytes = Math.max(1, (minBytesPerSecond * stallMs) / 1000);
  let seenBytes = socket.bytesRead;
  const timer = setInterval(() => {
    const bytes = socket.bytesRead - seenBytes;
    seenBytes = socket.bytesRead;
    if (bytes < minBytes && !request.isPaused()) socket.destroy();
  }, stallMs);
  timer.unref();
  for (const end of ["end", "close"]) request.once(end, () => clearInterval(timer));
}
