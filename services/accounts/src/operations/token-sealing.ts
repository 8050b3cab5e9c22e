import { randomBytes } from "node:crypto";
import type { Tokens } from "@postrider/platforms/authorization/connector";
import { seal, unseal, type SealedPlace } from "@postrider/shared/secrets/sealing";
import type { SealedCredential } from "#src/db/credentials.ts";
import { placeOfToken } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

const NONCE_BYTES = 12;

type WithKeys = Pick<Dependencies, "credentialKeys">;
type TokenColumn = "access_token" | "refresh_token";

/** Encrypts (seals) a text with the newest key, so that it can be unsealed only for the same storage place. */
export function sealAt({ credentialKeys }: WithKeys, place: SealedPlace, text: string): string {
  return seal(credentialKeys, place, text, randomBytes(NONCE_BYTES));
}

/** Seals the tokens of an account for storage. */
export function sealTokens(
  deps: WithKeys,
  accountId: string,
  tokens: Tokens,
  attributes: SealedCredential["attributes"],
): SealedCredential {
  const sealed = (column: TokenColumn, text: string): string =>
    sealAt(deps, placeOfToken(accountId, column), text);
  const { accessToken, refreshToken, lifetimeMs, refreshLifetimeMs } = tokens;
  return {
    accountId,
    accessToken: sealed("access_token", accessToken),
    refreshToken: refreshToken === undefined ? null : sealed("refresh_token", refreshToken),
    attributes,
    lifetimeMs: lifetimeMs ?? null,
    // A job refreshes an unused refresh token after half of its lifetime. The other half remains for further attempts
    // if the platform does not answer.
    refreshAfterMs: refreshLifetimeMs === undefined ? null : refreshLifetimeMs / 2,
  };
}

/** Decrypts (unseals) a stored token of an account. */
export function unsealToken(
  { credentialKeys }: WithKeys,
  accountId: string,
  column: TokenColumn,
  sealed: string,
): string {
  return unseal(credentialKeys, placeOfToken(accountId, column), sealed);
}
