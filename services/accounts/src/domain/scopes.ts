/** All scopes of API keys, sorted. */
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

/** The word that a request may use in place of all scopes. */
const ALL = "all";

/**
 * Returns the requested scopes, sorted and without duplicates; undefined when the list is empty or a scope is unknown.
 */
export function parseScopes(words: readonly string[]): readonly string[] | undefined {
  if (words.length === 0) return undefined;
  if (words.length === 1 && words[0] === ALL) return SCOPES;
  const known: readonly string[] = SCOPES;
  if (!words.every((word) => known.includes(word))) return undefined;
  return SCOPES.filter((scope) => words.includes(scope));
}
