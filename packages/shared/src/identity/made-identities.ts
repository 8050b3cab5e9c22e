import { makeIdentityKey, parsePrivateKey } from "./identity-keys.ts";
import { IDENTITY_NAMES, type IdentityName } from "./names.ts";

/** The value of `IDENTITY_KEYS` of each process: its private keys, separated by commas. */
export type IdentityKeyTexts = Readonly<Record<IdentityName, string>>;

/** Generates a private key for each service and for the operator's tool. */
export function makeIdentityKeys(): IdentityKeyTexts {
  const made = IDENTITY_NAMES.map((name) => [name, makeIdentityKey().privateKey]);
  return Object.fromEntries(made) as IdentityKeyTexts;
}

/**
 * Returns the value of `TRUSTED_IDENTITIES`: the public keys that belong to these private keys,
 * with the names of the processes.
 */
export function toTrustedIdentities(keys: IdentityKeyTexts): string {
  return IDENTITY_NAMES.flatMap((name) =>
    keys[name].split(",").flatMap((text) => {
      const key = parsePrivateKey(text.trim());
      return key === undefined ? [] : [`${name}:${key.publicKey}`];
    }),
  ).join(",");
}
