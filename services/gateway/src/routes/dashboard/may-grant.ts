import { ServiceError } from "@postrider/shared/errors";
import type { Caller } from "#src/routes/dependencies.ts";
import { DRAFTS_ONLY } from "#src/routes/mcp/draft-policy.ts";

/**
 * Returns the first of some scopes that a session lacks. A session may neither make a key that can
 * do more than itself, nor end a key or session that can: a person who may only read must not stop
 * the programs of the others. The key of an agent may change nothing here.
 */
export function findMissingScope({ scopes }: Caller, needed: readonly string[]) {
  if (scopes.has(DRAFTS_ONLY)) return DRAFTS_ONLY;
  return needed.find((scope) => !scopes.has(scope) && scope !== DRAFTS_ONLY);
}

/** @throws `insufficient_scope` if a session lacks one of the scopes. */
export function requireScopes(caller: Caller, needed: readonly string[]): void {
  const missing = findMissingScope(caller, needed);
  if (missing !== undefined)
    throw new ServiceError("forbidden", "insufficient_scope", [
      { code: missing, ...(missing === DRAFTS_ONLY ? {} : { allowed: [missing] }) },
    ]);
}
