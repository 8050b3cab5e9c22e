import { makeIdentityKey, parsePrivateKey } from "./identity-keys.ts";
import { IDENTITY_NAMES, type IdentityName } from "./names.ts";

/** The value of `IDENTITY_KEYS` of each process. */
export type IdentityKeyTexts = Readonly<Record<IdentityName, string>>;

export function makeIdentityKeys(): IdentityKeyTexts {
  const made = IDENTITY_NAMES.map((name) => [name, makeIdentityKey().privateKey]);
  return Object.fromEntries(made) as IdentityKeyTexts;
}

/** The value of `TRUSTED_IDENTITIES` for these private keys. */
export function toTrustedIdentities(keys: IdentityKeyTexts): string {
  return IDENTITY_NAMES.flatMap((name) =>
    keys[name].split(",").flatMap((text) => {
      const key = parsePrivateKey(text.trim());
      return key === undefined ? [] : [`${name}:${key.publicKey}`];
    }),
  ).join(",");
}
