import type { Call } from "#src/http/call.ts";
import { refuse } from "#src/youtube/errors.ts";

/**
 * The content of a call to a YouTube upload session: a range of bytes, or a query for the number of
 * bytes that have arrived.
 */
export type UploadRange =
  | { readonly kind: "query"; readonly total: number | undefined }
  | {
      readonly kind: "bytes";
      readonly first: number;
      /** Position of the last byte of the uploaded range in the file, inclusive. */
      readonly last: number;
      /**
       * Size of the file that a client uploads to YouTube, in bytes; undefined while the client
       * does not know it.
       */
      readonly total: number | undefined;
    };

const CONTENT_RANGE = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/;

/**
 * Parses the `Content-Range` header `bytes FIRST-LAST/TOTAL` of a YouTube upload, in which `*` can
 * stand for the range or for the total.
 */
function parseRange(header: string): UploadRange | undefined {
  const [whole, first, last, size] = CONTENT_RANGE.exec(header) ?? [];
  if (whole === undefined) {
    return undefined;
  }
  const total = size === "*" ? undefined : Number(size);
  return first === undefined
    ? { kind: "query", total }
    : { kind: "bytes", first: Number(first), last: Number(last), total };
}

/**
 * The byte range of a call to a YouTube upload session; undefined when the `Content-Range` header
 * is not valid. Without the header, the body is the whole file.
 */
export function readRange({ headers, body }: Call): UploadRange | undefined {
  const header = headers["content-range"];
  const length = body.length;
  if (header === undefined) {
    return length === 0 ? undefined : { kind: "bytes", first: 0, last: length - 1, total: length };
  }
  const range = parseRange(header);
  const isOrdered =
    range?.kind !== "bytes" ||
    (range.first <= range.last && range.last < (range.total ?? Infinity));
  return isOrdered ? range : undefined;
}

/** Whether a call to a YouTube upload session contains the last byte of the file. */
export function hasLastByte(range: UploadRange | undefined): boolean {
  return range?.kind === "bytes" && range.last + 1 === range.total;
}

export function refuseRange(): never {
  return refuse(400, "badRequest", {
    message: "Failed to parse Content-Range header.",
    location: "Content-Range",
  });
}
