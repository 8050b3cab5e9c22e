/** As `services/accounts` knows them. */
export const SCOPES = [
  "posts:read",
  "posts:write",
  "accounts:read",
  "accounts:write",
  "comments:read",
  "comments:write",
  "automations:read",
  "automations:write",
  "webhooks:read",
  "webhooks:write",
] as const;

/** Restricts what has it, and allows nothing. */
export const DRAFTS_ONLY = "mcp:drafts";

/** Whether something with these scopes can do no more than this session. */
export function isWithin(own: readonly string[], scopes: readonly string[]): boolean {
  if (own.includes(DRAFTS_ONLY)) return false;
  return scopes.every((scope) => scope === DRAFTS_ONLY || own.includes(scope));
}

/** Events and deliveries show what the other scopes for reading protect. */
export function seesEverything(scopes: readonly string[]): boolean {
  return scopes.some((scope) => scope.startsWith("webhooks:"));
}

/** What a row shows: one word for all scopes. */
export function toTags(
  scopes: readonly string[],
  words: { readonly all: string; readonly draftsOnly: string },
): readonly string[] {
  const real = SCOPES.filter((scope) => scopes.includes(scope));
  const tags: readonly string[] = real.length === SCOPES.length ? [words.all] : real;
  return scopes.includes(DRAFTS_ONLY) ? [...tags, words.draftsOnly] : tags;
}
