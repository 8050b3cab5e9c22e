import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/** RFC 3339 in UTC with milliseconds. */
export function toInstant(timestamp: Timestamp): string {
  return timestampDate(timestamp).toISOString();
}

/** The same, or null when there is none. */
export function toOptionalInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : toInstant(timestamp);
}
