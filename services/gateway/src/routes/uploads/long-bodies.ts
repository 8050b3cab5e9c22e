import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Patience } from "#src/routes/dependencies.ts";

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/** Requests whose body may take as long as it needs, as long as it comes. */
export interface LongBodies {
  /** The server's limit on the time of a whole request is not for them. */
  spare(answer: ClientErrorHandler): ClientErrorHandler;
  add(request: IncomingMessage, response: ServerResponse): void;
}

export function createLongBodies(
  patience: Pick<Patience, "stallMs" | "minBytesPerSecond">,
): LongBodies {
  const receiving = new WeakSet<Socket>();
  return {
    spare: (answer) => (error, socket) => {
      const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
      if (!isLate || !receiving.has(socket)) answer(error, socket);
    },
    add: (request, response) => {
      const { socket } = request;
      receiving.add(socket);
      response.once("close", () => receiving.delete(socket));
      endWhenSlow(request, patience);
    },
  };
}

/**
 * Ends the connection of a body of which nothing, or too little, came in a stretch of `stallMs`: a byte now and then would
 * keep one of the few places for uploads for ever. A stretch at whose end it is us who do not read, because media does
 * not, says nothing about the sender. Once the body is here, media may take its time.
 */
function endWhenSlow(
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
