/** Text that is stored instead of a platform's message that the database refuses. */
export const NOT_STORED = "the platform's message could not be stored";
/**
 * Maximum length of an id or link of a platform in an answer that is recorded without the
 * platform's text.
 */
const MAX_LENGTH = 2_048;

/**
 * Whether the text is short enough and Postgres accepts it in JSON: without unpaired surrogates and
 * the character U+0000.
 */
function isStorable(text: string): boolean {
  return text.length <= MAX_LENGTH && text.isWellFormed() && !text.includes("\0");
}

function toStorable(name: string, value: unknown): unknown {
  if (name === "message") return NOT_STORED;
  if (typeof value === "string") return isStorable(value) ? value : null;
  if (name === "askLater" && typeof value === "object" && value !== null)
    return Object.values(value).every((each) => typeof each === "string" && isStorable(each))
      ? value
      : undefined;
  return value;
}

/** Returns an answer without its message, and without ids and links that cannot be stored. */
export function withoutText<T extends object>(answer: T): T {
  const entries = Object.entries(answer).map(([name, value]) => [name, toStorable(name, value)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T;
}
