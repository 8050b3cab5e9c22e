import { v7 } from "uuid";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns a new UUIDv7 in lower case. UUIDv7 sorts by creation time, so that new rows are added at the end of an index.
 */
export function newId(): string {
  return v7();
}

/** Whether the text is a UUID of any version in lower case, the only form that the API accepts. */
export function isId(text: string): boolean {
  return ID.test(text);
}
