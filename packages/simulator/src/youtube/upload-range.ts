import type { Call } from "#src/http/call.ts";
import { refuse } from "#src/youtube/errors.ts";

/** What a call to an upload session is about: bytes at a place, or the question how many are there. */
export type UploadRange =
  | { readonly kind: "query"; readonly total: number | undefined }
  | {
      readonly kind: "bytes";
      readonly first: number;
      /** Inclusive. */
      readonly last: number;
      /** Undefined while the sender does not know. */
      readonly total: number | undefined;
    };

const CONTENT_RANGE = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/;

/** What `bytes FIRST-LAST/TOTAL` says, where either side of the slash may be a star. */
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

/** Undefined when the header makes no sense. Without one, the body is the whole file. */
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

/** Whether the last byte of the file is among those of the call. */
export function hasLastByte(range: UploadRange | undefined): boolean {
  return range?.kind === "bytes" && range.last + 1 === range.total;
}

export function refuseRange(): never {
  return refuse(400, "badRequest", {
    message: "Failed to parse Content-Range header.",
    location: "Content-Range",
  });
}
