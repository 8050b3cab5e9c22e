import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { disposeInOrder } from "@postrider/shared/process/lifecycle";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import { createServiceDatabase, identities, runTool, SEALING_KEYS, startService } from "./tool.ts";

const opened: AsyncDisposable[] = [];
let folder: string;
let settings: Settings;
let mediaDatabase: TestDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postrider-media-test-"));
  const accountsDatabase = await createServiceDatabase("accounts");
  mediaDatabase = await createServiceDatabase("media");
  const [accounts, media] = await Promise.all([
    startService("accounts", accountsDatabase, { CREDENTIAL_KEYS: SEALING_KEYS }),
    startService("media", mediaDatabase, {
      MEDIA_DIR: join(folder, "objects"),
      MEDIA_KEY: "a media key that media needs to start and these tests do not use",
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

/**
 * Inserts a ready video into the database of the media service, as an upload and its check would.
 */
async function insertVideo(id: string, workspaceId: string): Promise<void> {
  await mediaDatabase.migrationSql`
    insert into media (
      id, workspace_id, status, kind, content_type, bytes, width, height, duration_ms, sha256, file_name, object_key,
      delivery_bytes, delivery_sha256, delivery_content_type, ready_at
    )
    values (
      ${id}, ${workspaceId}, 'ready', 'video', 'video/mp4', 5, 1, 1, 3000, 'ab', 'boat.mp4', ${`objects/${newId()}`},
      5, 'ab', 'video/mp4', now()
    )`;
}

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

test("the `media describe` command sets and removes the description and the cover of media", async () => {
  const [id, workspaceId] = [newId(), newId()];
  await insertVideo(id, workspaceId);
  const describe = (...words: readonly string[]) =>
    json("media", "describe", id, "--workspace", workspaceId, ...words);
  const video = { id, kind: "video", fileName: "boat.mp4" };
  const described = { ...video, altText: "A boat", coverMs: 700 };
  expect(await describe("--alt-text", "A boat", "--cover-ms", "700")).toEqual(described);
  const without = { ...video, altText: null, coverMs: 700 };
  expect(await describe("--no-alt-text")).toEqual(without);
  expect(await describe("--no-cover")).toEqual({ ...without, coverMs: null });
  const usage = { error: { code: "invalid_request" } };
  expect(await describe()).toMatchObject(usage);
  expect(await describe("--cover-ms", "1", "--no-cover")).toMatchObject(usage);
  expect(await json("media", "describe", id, "--workspace", newId(), "--no-cover")).toMatchObject({
    error: { code: "not_found" },
  });
});
