/**
 * The operations whose optional fields tools without code send as null when the person has left
 * them empty.
 */
const OPERATIONS: readonly string[] = ["createPost", "validatePost", "updatePost"];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields without which a new post is published at once. */
const TIMING = ["scheduledAt", "queueSlot", "isDraft"];

type Members = Readonly<Record<string, unknown>>;

function dropNulls(value: Members): Members {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/**
 * Returns the fields that say when a post is published as they were given; undefined as null,
 * because JSON would leave it out. Without the field the post would be published at once, or, when
 * it is edited, at the time that it had: its author probably means neither, and the API refuses
 * null.
 */
function timingOf(body: Members): Members {
  const given = TIMING.filter((name) => Object.hasOwn(body, name));
  const timing = given.map((name) => [name, body[name] ?? null] as const);
  return Object.fromEntries(timing);
}

/**
 * Returns the body of an operation on posts without the fields that are null, also those of its
 * options, because the API refuses null there. Fields that say when the post is published are kept.
 */
export function withoutNulls(operation: string, body: unknown): unknown {
  if (!OPERATIONS.includes(operation) || !isObject(body)) return body;
  const filled = { ...dropNulls(body), ...timingOf(body) };
  const { options } = filled;
  if (!isObject(options)) return filled;
  const dropped = Object.entries(dropNulls(options)).map(([key, option]) => [
    key,
    isObject(option) ? dropNulls(option) : option,
  ]);
  return { ...filled, options: Object.fromEntries(dropped) as unknown };
}
