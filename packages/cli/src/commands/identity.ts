import { makeIdentityKeys, toTrustedIdentities } from "@postrider/shared/identity/identity-keys";
import { IDENTITY_NAMES } from "@postrider/shared/identity/names";
import type { Arguments, Command, Result } from "#src/command.ts";

function formatSecret(name: string, key: string, value: string): string {
  const metadata = `  name: ${name}\n  namespace: postrider`;
  return `apiVersion: v1\nkind: Secret\nmetadata:\n${metadata}\nstringData:\n  ${key}: ${value}\n`;
}

/** Nothing is stored; the operator keeps the printed keys. */
function create({ values }: Arguments): Promise<Result> {
  const keys = makeIdentityKeys();
  const trusted = toTrustedIdentities(keys);
  const secrets = [
    ...IDENTITY_NAMES.map((name) => formatSecret(`${name}-identity`, "IDENTITY_KEYS", keys[name])),
    formatSecret("trusted-identities", "TRUSTED_IDENTITIES", trusted),
  ];
  const lines = [
    ...IDENTITY_NAMES.map(
      (name) => `${name.toUpperCase().replace("-", "_")}_IDENTITY_KEYS=${keys[name]}`,
    ),
    `TRUSTED_IDENTITIES=${trusted}`,
  ];
  return Promise.resolve({
    json: { identityKeys: keys, trustedIdentities: trusted },
    text: values.kubernetes === true ? secrets.join("---\n") : lines.join("\n"),
  });
}

export const identityCommands: readonly Command[] = [
  {
    words: "identity create",
    synopsis: "[--kubernetes]",
    summary:
      "print a new key pair for each service and for this tool, as settings or as Kubernetes Secrets; calls no service",
    run: (_services, args) => create(args),
  },
];
