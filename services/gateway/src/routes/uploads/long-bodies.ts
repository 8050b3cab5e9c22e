import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** A sender that is silent for so long has gone, whatever its connection says. */
const STALL_MS = 30_000;
/** How long a body that nobody wants may still come, so that its sender gets to read why. */
const LINGER_MS = 5_000;

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/** Requests whose body may take as long as it needs, as long as it comes. */
export interface LongBodies {
  /** The server's limit on the time of a whole request is not for them. */
  spare(answer: ClientErrorHandler): ClientErrorHandler;
  /** Lets the body come. Disposing says that nobody reads it any more. */
  receive(request: IncomingMessage): Disposable;
}

export function createLongBodies(): LongBodies {
  const receiving = new WeakSet<Socket>();
  return {
    spare: (answer) => (error, socket) => {
      const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
      if (!isLate || !receiving.has(socket)) answer(error, socket);
    },
    receive: (request) => {
      const { socket } = request;
      receiving.add(socket);
      // Node ends the connection at this; once the body is here, media may take its time.
      socket.setTimeout(STALL_MS);
      request.once("end", () => socket.setTimeout(0));
      return {
        [Symbol.dispose]: () => {
          receiving.delete(socket);
          endUnread(request);
        },
      };
    },
  };
}

function endUnread(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, LINGER_MS);
  timer.unref();
  request.once("close", () => clearTimeout(timer));
}
