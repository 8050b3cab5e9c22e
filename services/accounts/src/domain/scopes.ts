/** What a key may be allowed to do, sorted. */
const SCOPES = [
  "accounts:read",
  "accounts:write",
  "automations:read",
  "automations:write",
  "comments:read",
  "comments:write",
  "posts:read",
  "posts:write",
  "webhooks:read",
  "webhooks:write",
] as const;

/** The word that stands for every scope. */
const ALL = "all";

/** The scopes that were asked for, sorted and each once; undefined when one of them is unknown or none was named. */
export function parseScopes(words: readonly string[]): readonly string[] | undefined {
  if (words.length === 0) return undefined;
  if (words.length === 1 && words[0] === ALL) return SCOPES;
  const known: readonly string[] = SCOPES;
  if (!words.every((word) => known.includes(word))) return undefined;
  return SCOPES.filter((scope) => words.includes(scope));
}
