import { MAX_BODY_BYTES, type ResponseHeaders } from "./exchange.ts";

/** Maximum length of the stored value of a webhook response header; the rest of the value is cut off. */
const MAX_VALUE_LENGTH = 8_192;

/** Returns a received text in a form that Postgres can store, also inside JSON. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Returns the headers of a webhook response with names in lower case and one text per name. */
export function toStoredHeaders(headers: ResponseHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).map(([name, value = ""]) => {
    const text = typeof value === "string" ? value : value.join(", ");
    return [toStorable(name.toLowerCase()), toStorable(text.slice(0, MAX_VALUE_LENGTH))];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/**
 * Returns the beginning of a webhook response body as a text of at most 16 KiB in UTF-8. Bytes that are not UTF-8
 * become replacement characters, which can be longer than the bytes.
 */
export function toStoredBody(body: Uint8Array): string {
  const text = toStorable(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
  if (text.length * 3 <= MAX_BODY_BYTES) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_BODY_BYTES) return text;
  // The option `stream` leaves out a character whose last bytes were cut off.
  return new TextDecoder().decode(bytes.subarray(0, MAX_BODY_BYTES), { stream: true });
}
