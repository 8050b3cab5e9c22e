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

/** The value in a request that stands for all scopes of API keys. */
const ALL = "all";

/**
 * Returns the requested API key scopes, sorted and without duplicates; undefined when the list is empty or contains an
 * unknown scope.
 */
export function parseScopes(words: readonly string[]): readonly string[] | undefined {
  if (words.length === 0) return undefined;
  if (words.length === 1 && words[0] === ALL) return SCOPES;
  const known: readonly string[] = SCOPES;
  if (!words.every((word) => known.includes(word))) return undefined;
  return SCOPES.filter((scope) => words.includes(scope));
}
