import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** A field that the contract promises to set, although its generated type allows undefined. */
export function required<T>(part: T | undefined): T {
  if (part === undefined)
    throw new Error(
      "the answer of the service lacks a part; check that the tool and the services have the same version",
    );
  return part;
}

export function toInstant(timestamp: Timestamp | undefined): string | null {
  return timestamp === undefined ? null : timestampDate(timestamp).toISOString();
}
