import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/** Formats a timestamp of an RPC message for the JSON output: RFC 3339 in UTC with milliseconds, or null. */
export function toInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}
