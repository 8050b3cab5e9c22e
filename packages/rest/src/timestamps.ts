import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/** Formats a timestamp as RFC 3339 in UTC with milliseconds. */
export function toInstant(timestamp: Timestamp): string {
  return timestampDate(timestamp).toISOString();
}

/** Formats a timestamp as RFC 3339 in UTC with milliseconds, and an absent timestamp as null. */
export function toOptionalInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : toInstant(timestamp);
}
