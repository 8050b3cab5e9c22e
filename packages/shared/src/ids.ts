import { v7 } from "uuid";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A new UUIDv7 in lower case: sortable by creation time, so indexes on it grow at one end. */
export function newId(): string {
  return v7();
}

/** Whether the text is a UUID (any version) in lower case, the only form Postrider's interface accepts. */
export function isId(text: string): boolean {
  return ID.test(text);
}
