import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { forgetDemo, loadSecrets, makeSecrets, mergeSecrets, saveDemo } from "#src/secrets.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-secrets-"));
  file = join(folder, "secrets.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("only the owner can read the file", () => {
  loadSecrets(file);

  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a second start has the secrets of the first", () => {
  expect(loadSecrets(file)).toEqual(loadSecrets(file));
});

test("two installations share no secret", () => {
  const texts = [makeSecrets(), makeSecrets()].flatMap(({ rolePasswords, ...rest }) => [
    ...Object.values(rest),
    ...Object.values(rolePasswords),
  ]);

  expect(new Set(texts).size).toBe(texts.length);
});

test("secrets are long enough, and the credential key is 32 bytes with a name", () => {
  const { internalSecret, credentialKeys } = makeSecrets();
  const [name, key] = credentialKeys.split(":");

  expect(internalSecret.length).toBeGreaterThanOrEqual(32);
  expect(name).toBe("k1");
  expect(Buffer.from(key ?? "", "base64")).toHaveLength(32);
});

test("what an older version did not make is added, and what it made stays", () => {
  const made = makeSecrets();
  const { mediaKey: _, ...older } = makeSecrets();

  expect(mergeSecrets(older, made)).toEqual({ ...older, mediaKey: made.mediaKey });
});

test("the demo workspace is remembered until it is forgotten", () => {
  const secrets = loadSecrets(file);
  saveDemo(file, secrets, { workspaceId: "w", apiKey: "k" });
  expect(loadSecrets(file).demo).toEqual({ workspaceId: "w", apiKey: "k" });

  forgetDemo(file);

  expect(loadSecrets(file)).toEqual(secrets);
  expect(readFileSync(file, "utf8")).not.toContain("demo");
});
