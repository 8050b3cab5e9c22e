import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/** A timestamp of a message as the JSON output shows it: RFC 3339 in UTC with milliseconds, or null. */
export function toInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}
