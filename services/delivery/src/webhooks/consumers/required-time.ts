import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/**
 * Returns the time of a bus event.
 * @throws when the event has none, so that the consumer parks the event.
 */
export function requiredTime(timestamp: Timestamp | undefined): Date {
  if (timestamp === undefined) throw new Error("the event does not say when it happened");
  return timestampDate(timestamp);
}
