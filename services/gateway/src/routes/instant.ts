import { timestampDate, timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidRequest } from "@postrider/shared/errors";
import { parseTimestamp } from "#src/http/timestamps.ts";

/** RFC 3339 in UTC with milliseconds. */
export function toInstant(timestamp: Timestamp): string {
  return timestampDate(timestamp).toISOString();
}

/** The same, or null when there is none. */
export function toOptionalInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : toInstant(timestamp);
}

/** The instant that a field of a request names; the schema has refused a text that names none. */
export function fromOptionalInstant(path: string, text: string | undefined): Timestamp | undefined {
  if (text === undefined) return undefined;
  const instant = parseTimestamp(text);
  if (instant === undefined) throw invalidRequest([{ code: "format", path }]);
  return timestampFromDate(instant);
}
