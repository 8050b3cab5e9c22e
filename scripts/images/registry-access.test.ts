import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findSecrets, writeRegistryAccess } from "./registry-access.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "images-access-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

test("a credential of the registry is found wherever it was left in an image", async () => {
  const access = writeRegistryAccess(folder);
  const image = join(folder, "image");
  mkdirSync(join(image, "app/node_modules"), { recursive: true });
  writeFileSync(join(image, "app/main.ts"), "// nothing secret\n");
  expect(await findSecrets(image, access)).toEqual([]);
  const leak = join(image, "app/node_modules/.modules.yaml");
  writeFileSync(leak, `auth: ${access.secrets.at(-1)}\n`);
  expect(await findSecrets(image, access)).toEqual([leak]);
});
