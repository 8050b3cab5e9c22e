import { ServiceError } from "#src/errors.ts";
import { findSignedBody, toSignedText, type CursorKeys } from "./cursor-signature.ts";

/**
 * For example the cursor of a platform.
 *
 * @param scope Name of the list, the workspace and the filters, each as text. The name must differ
 *   from those of lists whose cursors are positions.
 */
export function encodeTextCursor(keys: CursorKeys, scope: readonly string[], text: string): string {
  return toSignedText(keys, scope, Buffer.from(text, "utf8"));
}

/** @throws ServiceError `invalid_cursor` for everything but a cursor of the same scope. */
export function requireTextCursor(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): string {
  const body = findSignedBody(keys, scope, cursor);
  if (body === undefined) throw new ServiceError("invalid", "invalid_cursor");
  return body.toString("utf8");
}
