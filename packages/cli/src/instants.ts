import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/** An instant of a message as JSON has it: RFC 3339 in UTC with milliseconds, or null. */
export function toInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}
