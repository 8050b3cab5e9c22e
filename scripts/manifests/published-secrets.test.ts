import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { EnvReader } from "../../packages/shared/src/config.ts";
import { findProductionFaults } from "../../packages/shared/src/config/production.ts";
import { root } from "../check/run-command.ts";
import { SERVICES, settingsOf } from "../services/settings.ts";

interface Kustomization {
  readonly secretGenerator: readonly { readonly literals: readonly string[] }[];
}

const overlay = parse(
  readFileSync(join(root, "deploy/k8s/overlays/local/kustomization.yaml"), "utf8"),
) as Kustomization;
const isSecret = new Set(
  SERVICES.flatMap(settingsOf)
    .filter((setting) => setting.isSecret)
    .map(({ name }) => name),
);
const secrets = overlay.secretGenerator
  .flatMap(({ literals }) => literals)
  .map((literal) => /^(\w+)=(.*)$/.exec(literal))
  .map((found) => [found?.[1] ?? "", found?.[2] ?? ""] as const)
  .filter(([name]) => isSecret.has(name) || name === "TRUSTED_IDENTITIES");

test.each(secrets)(
  "a service in production refuses the value of %s that is published in the local Kubernetes overlay",
  (name, value) => {
    const reader = new EnvReader({ [name]: value });
    reader.secret("A secret.").optionalString(name);
    expect(findProductionFaults(reader)).toEqual([
      expect.stringMatching(new RegExp(`^${name} (is|has) a published or example value`)),
    ]);
  },
);

test("the local Kubernetes overlay has a value for each setting that holds keys of Postrider's services", () => {
  const names = secrets.map(([name]) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      "IDENTITY_KEYS",
      "TRUSTED_IDENTITIES",
      "MEDIA_KEY",
      "CREDENTIAL_KEYS",
      "HANDLE_KEYS",
    ]),
  );
});
