import type { Socket } from "node:net";
import type { Locale } from "@postrider/rest/locale";
import { newId } from "@postrider/shared/ids";
import { toErrorBody } from "#src/http/error-table.ts";

const STATUS_LINES: ReadonlyMap<string | undefined, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

/**
 * Answers a connection whose bytes Node could not parse as an HTTP request. No hook runs for such
 * bytes, so this function writes the whole answer.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  locale: Locale,
): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(toErrorBody({ reason: "invalid_request", locale }));
  const head = [
    `HTTP/1.1 ${STATUS_LINES.get(error.code) ?? "400 Bad Request"}`,
    `X-Request-Id: ${newId()}`,
    "X-Content-Type-Options: nosniff",
    "Cache-Control: no-store",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
