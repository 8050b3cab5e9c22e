import { contentType } from "#src/http/call.ts";
import type { Call } from "#src/http/call.ts";

/** One part of a `multipart/related` body, with its type and bytes. */
interface RelatedPart {
  /** MIME type in lower case, without parameters. */
  readonly contentType: string;
  readonly content: Buffer;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");

function partOf(bytes: Buffer): RelatedPart | undefined {
  const end = bytes.indexOf(BLANK_LINE);
  const head = bytes.toString("latin1", 0, Math.max(end, 0));
  const type = /^content-type: *([^\r\n;]+)/im.exec(head)?.[1];
  return type === undefined
    ? undefined
    : { contentType: type.trim().toLowerCase(), content: bytes.subarray(end + BLANK_LINE.length) };
}

/**
 * Returns the two parts of the `multipart/related` body (RFC 2387) of a Google upload, metadata and file; undefined when the
 * body does not have this form.
 */
export function relatedParts(call: Call): readonly [RelatedPart, RelatedPart] | undefined {
  const boundary = /boundary="?([^";\s]{1,70})/i.exec(call.headers["content-type"] ?? "")?.[1];
  if (contentType(call) !== "multipart/related" || boundary === undefined) {
    return undefined;
  }
  const { body } = call;
  const opening = `--${boundary}\r\n`;
  const between = `\r\n${opening}`;
  const middle = body.indexOf(between);
  const end = body.lastIndexOf(`\r\n--${boundary}--`);
  if (!body.subarray(0, opening.length).equals(Buffer.from(opening)) || middle === -1) {
    return undefined;
  }
  const metadata = partOf(body.subarray(opening.length, middle));
  const file = partOf(body.subarray(middle + between.length, Math.max(end, 0)));
  return metadata === undefined || file === undefined ? undefined : [metadata, file];
}
