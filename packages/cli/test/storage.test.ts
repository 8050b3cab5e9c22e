import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { disposeInOrder } from "@postrider/shared/process/lifecycle";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import { createServiceDatabase, identities, runTool, SEALING_KEYS, startService } from "./tool.ts";

const opened: AsyncDisposable[] = [];
let folder: string;
let settings: Settings;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postrider-storage-test-"));
  const [accountsDatabase, mediaDatabase] = [
    await createServiceDatabase("accounts"),
    await createServiceDatabase("media"),
  ];
  const [accounts, media] = await Promise.all([
    startService("accounts", accountsDatabase, { CREDENTIAL_KEYS: SEALING_KEYS }),
    startService("media", mediaDatabase, {
      MEDIA_DIR: join(folder, "objects"),
      MEDIA_TEMP_DIR: join(folder, "temp"),
      MEDIA_STORAGE_BYTES: "5000000000",
    }),
  ]);
  opened.push(accounts, media, accountsDatabase, mediaDatabase);
  settings = {
    urls: { accounts: accounts.url, posts: undefined, media: media.url, delivery: undefined },
    identity: identities.of("operator"),
  };
});
afterAll(async () => {
  await disposeInOrder(opened);
  await rm(folder, { recursive: true });
});

async function json(...words: readonly string[]): Promise<unknown> {
  const { printed, errors } = await runTool([...words, "--json"], settings);
  return JSON.parse(printed === "" ? errors : printed);
}

test("the storage commands show, set and reset the bytes that a workspace may store", async () => {
  const { id } = (await json("workspace", "create", "--name", "Test")) as { id: string };
  const shown = { workspaceId: id, usedBytes: 0, reservedBytes: 0 };
  const byDefault = { ...shown, limitBytes: 5_000_000_000, isDefault: true };
  expect(await json("storage", "show", id)).toEqual(byDefault);
  const limited = { ...shown, limitBytes: 3_000_000_000_000, isDefault: false };
  expect(await json("storage", "set-limit", id, "--bytes", "3000000000000")).toEqual(limited);
  expect(await json("storage", "show", id)).toEqual(limited);
  expect((await runTool(["storage", "show", id], settings)).printed).toContain("3000000000000");
  expect(await json("storage", "set-limit", id, "--default")).toEqual(byDefault);
});

test("the `storage` commands refuse an unknown workspace and a missing, negative, fractional or contradictory limit", async () => {
  const notFound = { error: { code: "not_found" } };
  expect(await json("storage", "show", newId())).toMatchObject(notFound);
  expect(await json("storage", "set-limit", newId(), "--bytes", "1")).toMatchObject(notFound);
  for (const words of [[], ["--bytes", "1", "--default"], ["--bytes", "-1"], ["--bytes", "1.5"]])
    expect(await runTool(["storage", "set-limit", newId(), ...words], settings)).toMatchObject({
      exitCode: 2,
    });
});
