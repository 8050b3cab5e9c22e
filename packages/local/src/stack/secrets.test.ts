import { execFileSync } from "node:child_process";
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePrivateKey } from "@postrider/shared/identity/identity-keys";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { root } from "#src/stack/layout.ts";
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

test("each process has a private key of its own, and an encryption key has 32 bytes and a name that no lost key had", () => {
  const { identityKeys, credentialKeys, handleKeys } = makeSecrets();
  const [name, key] = credentialKeys.split(":");

  expect(Object.values(identityKeys).map(parsePrivateKey)).not.toContain(undefined);
  expect(name).toMatch(/^k[0-9a-f]{6}$/);
  const all = [credentialKeys, handleKeys, makeSecrets().credentialKeys];
  expect(new Set(all.map((entry) => entry.split(":")[0])).size).toBe(3);
  expect(Buffer.from(key ?? "", "base64")).toHaveLength(32);
});

test("after the documented command to replace the identities of one server, a start makes new ones and keeps all other secrets", () => {
  const before = loadSecrets(file);
  const page = readFileSync(join(root, "docs/operations.md"), "utf8");
  const [, script = ""] = /node -e '(const \[, file[^']+)'/.exec(page) ?? [];
  execFileSync(process.execPath, ["-e", script, file, "identityKeys"]);

  const { identityKeys, ...kept } = loadSecrets(file);

  expect(identityKeys.gateway).not.toBe(before.identityKeys.gateway);
  expect({ ...kept, identityKeys: before.identityKeys }).toEqual(before);
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

test.each<[string, (text: string) => string, string]>([
  ["is not JSON", (text) => text.slice(0, -3), "is not valid JSON"],
  ["is empty", () => "", "is not valid JSON"],
  ["is a list", () => "[]", "the content is not an object"],
  [
    "has a number instead of a key",
    (text) => text.replace(/("credentialKeys": )"[^"]*"/, "$17"),
    "credentialKeys is not a text in quotes",
  ],
  [
    "has an empty password",
    (text) => text.replace(/("accounts": )"[^"]*"/, '$1""'),
    "rolePasswords.accounts is not a text in quotes",
  ],
  [
    "has a misspelled name",
    (text) => text.replace("credentialKeys", "credentialKey"),
    "credentialKeys is missing, and credentialKey is unknown",
  ],
])("a secrets file that %s is refused and stays as it is", (_name, change, fault) => {
  loadSecrets(file);
  const changed = change(readFileSync(file, "utf8"));
  writeFileSync(file, changed);

  expect(() => loadSecrets(file)).toThrow(fault);
  expect(() => loadSecrets(file)).toThrow("restore the file from a backup");
  expect(readFileSync(file, "utf8")).toBe(changed);
});

test("a secret that a newer version has added stays in the file of an older one", () => {
  const secrets = { ...loadSecrets(file), newerKeys: "k1:a" };
  writeFileSync(file, JSON.stringify(secrets));

  expect(loadSecrets(file)).toEqual(secrets);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(secrets);
});

test("the demo workspace and its API key are stored until they are removed", () => {
  const secrets = loadSecrets(file);
  saveDemo(file, secrets, { workspaceId: "w", apiKey: "k" });
  expect(loadSecrets(file).demo).toEqual({ workspaceId: "w", apiKey: "k" });

  forgetDemo(file);

  expect(loadSecrets(file)).toEqual(secrets);
  expect(readFileSync(file, "utf8")).not.toContain("demo");
});

test("each version of the secrets file is on disk before it replaces the one before, which a power failure would else leave empty", () => {
  const write = vi.spyOn(fs, "writeFileSync");
  syncBuiltinESMExports();
  try {
    saveDemo(file, loadSecrets(file), { workspaceId: "w", apiKey: "k" });
    forgetDemo(file);
    const options = write.mock.calls.map(([, , given]) => given);
    expect(options).toMatchObject([{ flush: true }, { flush: true }, { flush: true }]);
  } finally {
    write.mockRestore();
    syncBuiltinESMExports();
  }
});
