import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { finished } from "node:stream";
import { type MinimumRate, watchRate } from "#src/limits/minimum-rate.ts";

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/** Connections whose request may take longer than the server's limit. */
const receiving = new WeakSet<Socket>();

/** Uploads continue at the server's limit; they have a minimum rate instead. */
export function exemptLongUploads(answer: ClientErrorHandler): ClientErrorHandler {
  return (error, socket) => {
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT" || !receiving.has(socket)) answer(error, socket);
  };
}

/**
 * The body may take any time, but must arrive at the minimum rate. Time does not count while
 * received bytes wait in this process, because then its reader is slow. The answer may take any
 * time.
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

/** Time does not count while nothing waits to be sent, because then the source is slow. */
export function watchDownload(response: ServerResponse, rate: MinimumRate): void {
  const { socket } = response;
  if (socket === null) return;
  const watch = watchRate({
    rate,
    // `bytesWritten` also counts bytes that still wait in this process.
    countBytes: () => socket.bytesWritten - socket.writableLength,
    isExcused: () => response.writableLength === 0,
    onTooSlow: () => socket.destroy(),
  });
  finished(response, () => watch[Symbol.dispose]());
}
