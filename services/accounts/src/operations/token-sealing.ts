import type { Tokens } from "@postrider/platforms/authorization/connector";
import { newNonce, seal, SealError, unseal } from "@postrider/shared/secrets/sealing";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import type { SealedCredential } from "#src/db/credentials.ts";
import {
  placeOfToken,
  type BoundPlace,
  type TokenColumn,
  type TokenOwner,
} from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

type WithKeys = Pick<Dependencies, "credentialKeys">;

const refusedTotal = createCounter(
  "sealed_secrets_refused_total",
  "Stored secrets of accounts that could not be decrypted and were not used, because they or the data beside them were changed, or because a key is missing.",
  ["reason"],
  [{ reason: "changed" }, { reason: "missing_key" }],
);

/**
 * Encrypts a text with the newest key, so that it can be decrypted only for the same storage place.
 */
export function sealAt({ credentialKeys }: WithKeys, place: BoundPlace, text: string): string {
  return seal(credentialKeys, place, text, newNonce());
}

/**
 * Decrypts a stored text to use it. A text that cannot be used is counted in a metric.
 *
 * @throws SealError when the text or a value that it is bound to was changed, or when its key is
 *   missing.
 */
export function unsealForUse(
  { credentialKeys }: WithKeys,
  place: BoundPlace,
  sealed: string,
): string {
  try {
    return unseal(credentialKeys, place, sealed);
  } catch (error) {
    if (error instanceof SealError)
      refusedTotal.inc({ reason: error.isBroken ? "changed" : "missing_key" });
    throw error;
  }
}

export function sealToken(
  deps: WithKeys,
  owner: TokenOwner,
  column: TokenColumn,
  text: string,
): string {
  return sealAt(deps, placeOfToken(owner, column), text);
}

/** A workspace may run the server that says how long a token lives. */
const MIN_REFRESH_MS = 3_600_000;

export function sealTokens(deps: WithKeys, owner: TokenOwner, tokens: Tokens): SealedCredential {
  const sealed = (column: TokenColumn, text: string): string =>
    sealToken(deps, owner, column, text);
  const { accessToken, refreshToken, lifetimeMs, refreshLifetimeMs } = tokens;
  return {
    accountId: owner.accountId,
    accessToken: sealed("access_token", accessToken),
    refreshToken: refreshToken === undefined ? null : sealed("refresh_token", refreshToken),
    attributes: owner.attributes,
    lifetimeMs: lifetimeMs ?? null,
    // A job refreshes an unused refresh token after half of its lifetime. The other half remains
    // for further attempts if the platform does not answer.
    refreshAfterMs:
      refreshLifetimeMs === undefined ? null : Math.max(refreshLifetimeMs / 2, MIN_REFRESH_MS),
  };
}

/**
 * Decrypts a stored token of an account to use it.
 *
 * @throws SealError when the token, its account or a value that decides where the token is sent was
 *   changed, or when its key is missing.
 */
export function unsealToken(
  deps: WithKeys,
  owner: TokenOwner,
  column: TokenColumn,
  sealed: string,
): string {
  return unsealForUse(deps, placeOfToken(owner, column), sealed);
}
