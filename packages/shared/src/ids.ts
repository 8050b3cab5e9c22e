import { createHash } from "node:crypto";
import { v7 } from "uuid";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The id that sorts before every other id: a list after it begins with the first row. Nothing has this id. */
export const NIL_ID = "00000000-0000-0000-0000-000000000000";

/**
 * Returns a new UUIDv7 in lower case. UUIDv7 sorts by creation time, so that new rows are added at the end of an index.
 */
export function newId(): string {
  return v7();
}

/** Returns a UUID that depends on the text only, so that the same text always has the same id. */
export function deriveId(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex").slice(0, 32);
  // RFC 9562 defines version 8 for UUIDs with custom content.
  const digits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Returns a UUIDv7 that depends on a time and a text only. Like every UUIDv7, it sorts by the time, to the millisecond. Use it for
 * rows of a table that is partitioned by the time in its ids.
 */
export function deriveTimedId(at: Date, text: string): string {
  const time = at.getTime().toString(16).padStart(12, "0");
  const hash = createHash("sha256").update(text).digest("hex");
  const digits = `${time}7${hash.slice(0, 3)}8${hash.slice(3, 18)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Whether the text is a UUID of any version in lower case, the only form that the API accepts. */
export function isId(text: string): boolean {
  return ID.test(text);
}
