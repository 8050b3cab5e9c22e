import { randomBytes } from "node:crypto";
import type { Tokens } from "@postrider/platforms/authorization/connector";
import { seal, unseal } from "@postrider/shared/secrets/sealing";
import type { SealedCredential } from "#src/db/credentials.ts";
import { placeOfToken } from "#src/domain/token-place.ts";
import type { Deps } from "#src/rpc/deps.ts";

const NONCE_BYTES = 12;

type Column = "access_token" | "refresh_token";

/** Tokens of an account in the form in which they are stored. */
export function sealTokens(
  { credentialKeys }: Pick<Deps, "credentialKeys">,
  accountId: string,
  tokens: Tokens,
  attributes: SealedCredential["attributes"],
): SealedCredential {
  const sealed = (column: Column, text: string): string =>
    seal(credentialKeys, placeOfToken(accountId, column), text, randomBytes(NONCE_BYTES));
  const { accessToken, refreshToken, lifetimeMs, refreshLifetimeMs } = tokens;
  return {
    accountId,
    accessToken: sealed("access_token", accessToken),
    refreshToken: refreshToken === undefined ? null : sealed("refresh_token", refreshToken),
    attributes,
    lifetimeMs: lifetimeMs ?? null,
    // Half of the life, as for access tokens: a platform in trouble has the other half to get well.
    renewAfterMs: refreshLifetimeMs === undefined ? null : refreshLifetimeMs / 2,
  };
}

/** A stored token as the platform gave it. */
export function unsealToken(
  { credentialKeys }: Pick<Deps, "credentialKeys">,
  accountId: string,
  column: Column,
  sealed: string,
): string {
  return unseal(credentialKeys, placeOfToken(accountId, column), sealed);
}
