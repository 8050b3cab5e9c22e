import { makeIdentityKeys, toTrustedIdentities } from "@postrider/shared/identity/identity-keys";
import { IDENTITY_NAMES } from "@postrider/shared/identity/names";
import type { Command, Result } from "#src/command.ts";

/** Nothing is stored; the operator keeps the printed keys. */
function create(): Promise<Result> {
  const keys = makeIdentityKeys();
  const trusted = toTrustedIdentities(keys);
  const lines = [
    ...IDENTITY_NAMES.map(
      (name) => `${name.toUpperCase().replace("-", "_")}_IDENTITY_KEYS=${keys[name]}`,
    ),
    `TRUSTED_IDENTITIES=${trusted}`,
  ];
  return Promise.resolve({
    json: { identityKeys: keys, trustedIdentities: trusted },
    text: lines.join("\n"),
  });
}

export const identityCommands: readonly Command[] = [
  {
    words: "identity create",
    synopsis: "",
    summary: "print a new key pair for each service and for this tool; calls no service",
    run: create,
  },
];
