import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { MinimumRate } from "@postrider/shared/limits/minimum-rate";
import type { FastifyInstance } from "fastify";

type Connection = Pick<Socket, "bytesWritten" | "writableLength" | "destroy" | "once">;

interface Progress {
  sentBytes: number;
  hadUnsent: boolean;
}

/**
 * Closes each connection whose client reads an answer more slowly than the minimum rate, on average
 * over an interval of `stallMs`. Otherwise a client that reads a single byte at a time would make
 * the gateway hold its answer for hours. A connection without unsent bytes is never closed: then
 * the client waits for the gateway. The interval must be long, because the operating system takes
 * further bytes only after much of its send buffer, up to megabytes, has been read by the client.
 *
 * @returns A function that stops the checks.
 */
export function watchReadingRate(
  server: Pick<EventEmitter, "on">,
  { bytesPerSecond, stallMs }: MinimumRate,
): () => void {
  const minBytes = (bytesPerSecond * stallMs) / 1000;
  const connections = new Map<Connection, Progress>();
  server.on("connection", (connection: Connection) => {
    connections.set(connection, { sentBytes: 0, hadUnsent: false });
    connection.once("close", () => connections.delete(connection));
  });
  const timer = setInterval(() => {
    for (const [connection, last] of connections) {
      const { bytesWritten, writableLength } = connection;
      const sentBytes = bytesWritten - writableLength;
      const hasUnsent = writableLength > 0;
      const isSlow = last.hadUnsent && hasUnsent && sentBytes - last.sentBytes < minBytes;
      if (isSlow) connection.destroy();
      last.sentBytes = sentBytes;
      last.hadUnsent = hasUnsent;
    }
  }, stallMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Closes the connections of clients that read their answers too slowly, until the server closes.
 */
export function addReadingRate(app: FastifyInstance, rate: MinimumRate): void {
  const stop = watchReadingRate(app.server, rate);
  app.addHook("onClose", (_app, done) => {
    stop();
    done();
  });
}
