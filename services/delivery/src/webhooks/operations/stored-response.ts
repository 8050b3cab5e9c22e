import { MAX_BODY_BYTES, type ResponseHeaders } from "./exchange.ts";

/** Maximum number of bytes that are stored of the headers and of the body of a 2xx response, which say little beyond its status. */
const MAX_SUCCESS_BYTES = 2 * 1024;

/** Maximum length of the stored value of a webhook response header; the rest of the value is cut off. */
const MAX_VALUE_LENGTH = 8_192;

/** Returns a received text in a form that Postgres can store, also inside JSON. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns the headers of a webhook response with names in lower case and one text per name; of a 2xx response, the first
 * headers with at most 2 KiB together.
 */
export function toStoredHeaders(
  headers: ResponseHeaders,
  status: number,
): Readonly<Record<string, string>> {
  const stored: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value = ""] of Object.entries(headers)) {
    const text = typeof value === "string" ? value : value.join(", ");
    const [key, kept] = [
      toStorable(name.toLowerCase()),
      toStorable(text.slice(0, MAX_VALUE_LENGTH)),
    ];
    bytes += Buffer.byteLength(key) + Buffer.byteLength(kept);
    if (isSuccess(status) && bytes > MAX_SUCCESS_BYTES) break;
    stored[key] = kept;
  }
  return stored;
}

/**
 * Returns the beginning of a webhook response body as a text of at most 16 KiB in UTF-8, and of at most 2 KiB for a 2xx
 * response. Bytes that are not UTF-8 become replacement characters, which can be longer than the bytes.
 */
export function toStoredBody(body: Uint8Array, status: number): string {
  const maxBytes = isSuccess(status) ? MAX_SUCCESS_BYTES : MAX_BODY_BYTES;
  const text = toStorable(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  // The option `stream` leaves out a character whose last bytes were cut off.
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}
