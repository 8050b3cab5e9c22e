import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePrivateKey } from "@postrider/shared/identity/identity-keys";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  forgetDemo,
  loadSecrets,
  makeSecrets,
  mergeSecrets,
  saveDemo,
} from "#src/stack/secrets.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-secrets-"));
  file = join(folder, "secrets.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("only the owner can read the file with the secrets of a stack", () => {
  loadSecrets(file);

  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a second start of a stack uses the secrets of the first start", () => {
  expect(loadSecrets(file)).toEqual(loadSecrets(file));
});

test("two local stacks get different secrets", () => {
  const texts = [makeSecrets(), makeSecrets()].flatMap(
    ({ rolePasswords, migrationPasswords, identityKeys, ...rest }) => [
      ...Object.values(identityKeys),
      ...Object.values(rest),
      ...Object.values(rolePasswords),
      ...Object.values(migrationPasswords),
    ],
  );

  expect(new Set(texts).size).toBe(texts.length);
});

test("each process has a private key of its own, and the credential key has a name and 32 bytes", () => {
  const { identityKeys, credentialKeys } = makeSecrets();
  const [name, key] = credentialKeys.split(":");

  expect(Object.values(identityKeys).map(parsePrivateKey)).not.toContain(undefined);
  expect(name).toBe("k1");
  expect(Buffer.from(key ?? "", "base64")).toHaveLength(32);
});

test("secrets that an older version did not generate are added to the secrets file, and the stored secrets stay", () => {
  const made = makeSecrets();
  const { mediaKey: _, migrationPasswords: _passwords, identityKeys, ...older } = makeSecrets();
  const { gateway } = identityKeys;

  expect(mergeSecrets({ ...older, identityKeys: { gateway } }, made)).toEqual({
    ...older,
    mediaKey: made.mediaKey,
    migrationPasswords: made.migrationPasswords,
    identityKeys: { ...made.identityKeys, gateway },
  });
});

test("the demo workspace and its API key are stored until they are removed", () => {
  const secrets = loadSecrets(file);
  saveDemo(file, secrets, { workspaceId: "w", apiKey: "k" });
  expect(loadSecrets(file).demo).toEqual({ workspaceId: "w", apiKey: "k" });

  forgetDemo(file);

  expect(loadSecrets(file)).toEqual(secrets);
  expect(readFileSync(file, "utf8")).not.toContain("demo");
});
