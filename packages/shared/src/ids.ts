import { createHash } from "node:crypto";
import { v7 } from "uuid";
import { invalidRequest, notFound } from "#src/errors.ts";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Sorts before every other id: a list after it begins with the first row. */
export const NIL_ID = "00000000-0000-0000-0000-000000000000";

/** UUIDv7 sorts by creation time, so that new rows are added at the end of an index. */
export function newId(): string {
  return v7();
}

/** Of ids that begin with a time: no id has one before 1970. */
function timeDigits(at: Date): string {
  return Math.max(0, at.getTime()).toString(16).padStart(12, "0");
}

/** The ids of `newId` before it were made before the time, and those after it at or after it. */
export function firstIdAt(at: Date): string {
  const time = timeDigits(at);
  return `${time.slice(0, 8)}-${time.slice(8)}${NIL_ID.slice(13)}`;
}

/** The same text always has the same id. */
export function deriveId(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex").slice(0, 32);
  // Version 8 of RFC 9562 has custom content.
  const digits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Derives an id for tables that are partitioned by the time in their ids. */
export function deriveTimedId(at: Date, text: string): string {
  const time = timeDigits(at);
  const hash = createHash("sha256").update(text).digest("hex");
  const digits = `${time}7${hash.slice(0, 3)}8${hash.slice(3, 18)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Whether a text is a UUID of any version in lower case, the only form that the API accepts. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** @throws `not_found` for texts that are not ids. */
export function assertIds(...ids: readonly string[]): void {
  if (!ids.every(isId)) throw notFound();
}

/** @throws `invalid_request` for a text that is not an id. */
export function assertWorkspaceId(workspaceId: string): void {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
}
