import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { finished } from "node:stream";
import { type MinimumRate, watchRate } from "#src/limits/minimum-rate.ts";

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Connections on which a request body is arriving that may take longer than the server's limit on the duration of a request.
 */
const receiving = new WeakSet<Socket>();

/**
 * Returns a handler of `clientError` that lets uploads continue when the server's limit on the duration of a request is
 * reached. They have a minimum rate instead.
 */
export function exemptLongUploads(answer: ClientErrorHandler): ClientErrorHandler {
  return (error, socket) => {
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT" || !receiving.has(socket)) answer(error, socket);
  };
}

/**
 * Lets the body of a request take any time to arrive, and closes its connection when the body arrives below the minimum
 * rate. Time does not count while received bytes wait in this process, because then the reader of the body is the slow
 * side. Once the body has arrived, the answer may take any time.
 */
export function watchUpload(
  request: IncomingMessage,
  response: ServerResponse,
  rate: MinimumRate,
): void {
  const { socket } = request;
  receiving.add(socket);
  response.once("close", () => receiving.delete(socket));
  const watch = watchRate({
    rate,
    countBytes: () => socket.bytesRead,
    isExcused: () => request.readableLength > 0,
    onTooSlow: () => socket.destroy(),
  });
  for (const end of ["end", "close"]) request.once(end, () => watch[Symbol.dispose]());
}

/**
 * Closes the connection of a response that its client reads below the minimum rate. Time does not count while nothing
 * waits to be sent, because then the source of the bytes is the slow side.
 */
export function watchDownload(response: ServerResponse, rate: MinimumRate): void {
  const { socket } = response;
  if (socket === null) return;
  const watch = watchRate({
    rate,
    // A socket's `bytesWritten` also counts bytes that still wait in this process; they are not sent yet.
    countBytes: () => socket.bytesWritten - socket.writableLength,
    isExcused: () => response.writableLength === 0,
    onTooSlow: () => socket.destroy(),
  });
  finished(response, () => watch[Symbol.dispose]());
}
