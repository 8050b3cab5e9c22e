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

test("only the owner can read the file with the secrets of a stack", () => {
  loadSecrets(file);

  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a second start of a stack uses the secrets of the first start", () => {
  expect(loadSecrets(file)).toEqual(loadSecrets(file));
});

test("two installations share no secret", () => {
  const texts = [makeSecrets(), makeSecrets()].flatMap(({ rolePasswords, ...rest }) => [
    ...Object.values(rest),
    ...Object.values(rolePasswords),
  ]);

  expect(new Set(texts).size).toBe(texts.length);
});

test("the internal secret has at least 32 characters, and the credential key has a name and 32 bytes", () => {
  const { internalSecret, credentialKeys } = makeSecrets();
  const [name, key] = credentialKeys.split(":");

  expect(internalSecret.length).toBeGreaterThanOrEqual(32);
  expect(name).toBe("k1");
  expect(Buffer.from(key ?? "", "base64")).toHaveLength(32);
});

test("secrets that an older version did not generate are added to the secrets file, and the stored secrets stay", () => {
  const made = makeSecrets();
  const { mediaKey: _, ...older } = makeSecrets();

  expect(mergeSecrets(older, made)).toEqual({ ...older, mediaKey: made.mediaKey });
});

test("the demo workspace and its API key are stored until they are removed", () => {
  const secrets = loadSecrets(file);
  saveDemo(file, secrets, { workspaceId: "w", apiKey: "k" });
  expect(loadSecrets(file).demo).toEqual({ workspaceId: "w", apiKey: "k" });

  forgetDemo(file);

  expect(loadSecrets(file)).toEqual(secrets);
  expect(readFileSync(file, "utf8")).not.toContain("demo");
});
