/**
 * The operations whose optional fields tools without code send as null when the person has left
 * them empty.
 */
const OPERATIONS: readonly string[] = ["createPost", "validatePost", "updatePost"];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function dropNulls(value: Readonly<Record<string, unknown>>, kept: string) {
  const members = Object.entries(value).filter(
    ([name, member]) => member !== null || name === kept,
  );
  return Object.fromEntries(members);
}

/**
 * Returns the body of an operation on posts without the fields that are null, also those of its
 * options, because the API refuses null there. A null as the new time of a post is kept, and so
 * refused: its author probably means that the post is no longer to be published at that time, and
 * without the field it would be.
 */
export function withoutNulls(operation: string, body: unknown): unknown {
  if (!OPERATIONS.includes(operation) || !isObject(body)) return body;
  const filled = dropNulls(body, operation === "updatePost" ? "scheduledAt" : "");
  const { options } = filled;
  if (!isObject(options)) return filled;
  const dropped = Object.entries(dropNulls(options, "")).map(([key, option]) => [
    key,
    isObject(option) ? dropNulls(option, "") : option,
  ]);
  return { ...filled, options: Object.fromEntries(dropped) as unknown };
}
