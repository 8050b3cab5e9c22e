import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstIdAt, newId } from "@postrider/shared/ids";
import { disposeInOrder } from "@postrider/shared/process/lifecycle";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import { createServiceDatabase, identities, runTool, SEALING_KEYS, startService } from "./tool.ts";

const opened: AsyncDisposable[] = [];
let folder: string;
let settings: Settings;
let postsDatabase: Awaited<ReturnType<typeof createServiceDatabase>>;

beforeAll(async () => {
  const accountsDatabase = await createServiceDatabase("accounts");
  postsDatabase = await createServiceDatabase("posts");
  const mediaDatabase = await createServiceDatabase("media");
  folder = await mkdtemp(join(tmpdir(), "postrider-media-test-"));
  const [accounts, posts, media] = await Promise.all([
    startService("accounts", accountsDatabase, { CREDENTIAL_KEYS: SEALING_KEYS }),
    startService("posts", postsDatabase, {}),
    startService("media", mediaDatabase, {
      MEDIA_DIR: join(folder, "objects"),
      MEDIA_KEY: "a media key that media needs to start and these tests do not use",
      MEDIA_TEMP_DIR: join(folder, "temp"),
    }),
  ]);
  opened.push(accounts, posts, media, accountsDatabase, postsDatabase, mediaDatabase);
  settings = {
    urls: { accounts: accounts.url, posts: posts.url, media: media.url, delivery: undefined },
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

test("the `post-limits` commands show, set and reset the drafts and the bytes that a workspace may store", async () => {
  const { id } = (await json("workspace", "create", "--name", "Test")) as { id: string };
  const byDefault = {
    workspaceId: id,
    maxDrafts: 10_000,
    hasDefaultDrafts: true,
    drafts: 0,
    maxBytes: 1_000_000_000,
    hasDefaultBytes: true,
    bytes: 0,
  };
  expect(await json("post-limits", "show", id)).toEqual(byDefault);
  const moreDrafts = { ...byDefault, maxDrafts: 50_000, hasDefaultDrafts: false };
  expect(await json("post-limits", "set", id, "--drafts", "50000")).toEqual(moreDrafts);
  const more = { ...moreDrafts, maxBytes: 5_000_000_000, hasDefaultBytes: false };
  expect(await json("post-limits", "set", id, "--bytes", "5000000000")).toEqual(more);
  expect((await runTool(["post-limits", "show", id], settings)).printed).toContain("5000000000");
  expect(await json("post-limits", "set", id, "--default")).toEqual(byDefault);
});

test("the `post-limits` commands refuse an unknown workspace and a missing, negative, fractional or contradictory limit", async () => {
  const notFound = { error: { code: "not_found" } };
  expect(await json("post-limits", "show", newId())).toMatchObject(notFound);
  expect(await json("post-limits", "set", newId(), "--drafts", "1")).toMatchObject(notFound);
  const refused = [[], ["--drafts", "1", "--default"], ["--drafts", "-1"], ["--bytes", "1.5"]];
  for (const words of refused)
    expect(await runTool(["post-limits", "set", newId(), ...words], settings)).toMatchObject({
      exitCode: 2,
    });
});

test("`retention show` says after how many days ended posts are removed and how many the next run removes", async () => {
  const media = { days: 30, removable: 0, bytes: 0 };
  const nothing = { days: 400, removable: 0, oldestAt: null, media };
  expect(await json("retention", "show")).toEqual(nothing);

  const at = "2020-01-02T03:04:05.000Z";
  await postsDatabase.migrationSql`
    insert into posts (
      id, workspace_id, status, content, options, media_ids, media, created_via, created_at, updated_at
    )
    values (${firstIdAt(new Date(at))}, ${newId()}, 'published', 'old', '{}', '{}', '[]', 'rest', ${at}, ${at})`;

  expect(await json("retention", "show")).toEqual({ ...nothing, removable: 1, oldestAt: at });
  expect((await runTool(["retention", "show"], settings)).printed).toContain("400 days");
});
