import { randomBytes } from "node:crypto";
import type { SealedCredential } from "#src/db/credentials.ts";
import type { Tokens } from "#src/domain/connector.ts";
import { seal, unseal, type SealedPlace } from "#src/domain/sealing.ts";
import type { Deps } from "#src/rpc/deps.ts";

const NONCE_BYTES = 12;

type Column = "access_token" | "refresh_token";

function place(accountId: string, column: Column): SealedPlace {
  return { table: "credentials", rowId: accountId, column };
}

/** Tokens of an account in the form in which they are stored. */
export function sealTokens(
  { credentialKeys }: Pick<Deps, "credentialKeys">,
  accountId: string,
  tokens: Tokens,
  attributes: SealedCredential["attributes"],
): SealedCredential {
  const sealed = (column: Column, text: string): string =>
    seal(credentialKeys, place(accountId, column), text, randomBytes(NONCE_BYTES));
  const { accessToken, refreshToken, lifetimeMs } = tokens;
  return {
    accountId,
    accessToken: sealed("access_token", accessToken),
    refreshToken: refreshToken === undefined ? null : sealed("refresh_token", refreshToken),
    attributes,
    lifetimeMs: lifetimeMs ?? null,
  };
}

/** A stored token as the platform gave it. */
export function unsealToken(
  { credentialKeys }: Pick<Deps, "credentialKeys">,
  accountId: string,
  column: Column,
  sealed: string,
): string {
  return unseal(credentialKeys, place(accountId, column), sealed);
}
