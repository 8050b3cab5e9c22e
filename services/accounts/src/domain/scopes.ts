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

/** A scope that restricts an API key: with it, agents (MCP) can only create and change drafts. */
const MCP_DRAFTS = "mcp:drafts";

/** Returns the scopes sorted; undefined when there is none or an unknown one. */
export function parseScopes(words: readonly string[]): readonly string[] | undefined {
  const scopes = words.filter((word) => word !== MCP_DRAFTS);
  const marks = scopes.length === words.length ? [] : [MCP_DRAFTS];
  if (scopes.length === 0) return undefined;
  if (scopes.length === 1 && scopes[0] === ALL) return [...SCOPES, ...marks].toSorted();
  const known: readonly string[] = SCOPES;
  if (!scopes.every((word) => known.includes(word))) return undefined;
  return [...SCOPES.filter((scope) => scopes.includes(scope)), ...marks].toSorted();
}
