import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { disposeInOrder } from "@postrider/shared/process/lifecycle";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import {
  createServiceDatabase,
  identities,
  INSTANT,
  runTool,
  SEALING_KEYS,
  startService,
  type RunningService,
} from "./tool.ts";

let database: TestDatabase;
let accountsDatabase: TestDatabase;
let postsDatabase: TestDatabase;
let mediaDatabase: TestDatabase;
let folder: string;
let services: readonly RunningService[] = [];
let settings: Settings;

beforeAll(async () => {
  database = await createServiceDatabase("delivery");
  accountsDatabase = await createServiceDatabase("accounts");
  postsDatabase = await createServiceDatabase("posts");
  mediaDatabase = await createServiceDatabase("media");
  folder = await mkdtemp(join(tmpdir(), "postrider-recovery-test-"));
  const [accounts, delivery] = await Promise.all([
    startService("accounts", accountsDatabase, { CREDENTIAL_KEYS: SEALING_KEYS }),
    startService("delivery", database, {
      HANDLE_KEYS: SEALING_KEYS,
      MEDIA_KEY: "a media key that delivery needs to start and these tests do not use",
    }),
  ]);
  const [posts, media] = await Promise.all([
    startService("posts", postsDatabase, {}),
    startService("media", mediaDatabase, {
      MEDIA_DIR: join(folder, "objects"),
      MEDIA_KEY: "a media key that media needs to start and these tests do not use",
      MEDIA_TEMP_DIR: join(folder, "temp"),
    }),
  ]);
  services = [accounts, delivery, posts, media];
  settings = {
    urls: { accounts: accounts.url, posts: posts.url, media: media.url, delivery: delivery.url },
    identity: identities.of("operator"),
  };
});

afterAll(async () => {
  await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
  await disposeInOrder([accountsDatabase, postsDatabase, mediaDatabase]);
  await rm(folder, { recursive: true });
  await database[Symbol.asyncDispose]();
});

async function run(...words: readonly string[]) {
  return await runTool(words, settings);
}

async function runJson(...words: readonly string[]): Promise<unknown> {
  const { printed, errors } = await run(...words, "--json");
  return JSON.parse(printed === "" ? errors : printed);
}

async function insertUnknown(): Promise<string> {
  const targetId = newId();
  await database.sql`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before, attempt_number, error_code, error_message
    )
    values (
      ${targetId}, 1, ${newId()}, ${newId()}, ${newId()}, 'telegram', 'failed', now(), now(), now(), 1,
      'outcome_unknown', 'reset'
    )`;
  return targetId;
}

test("`target resolve --published` marks a target with an unknown outcome as published, and fails when it is repeated", async () => {
  const id = await insertUnknown();
  const permalink = "https://t.me/some_channel/77";

  expect(await runJson("target", "resolve", id, "--published", permalink)).toEqual({
    id,
    status: "published",
    externalId: "77",
    permalink,
    publishedAt: INSTANT,
    error: null,
  });
  expect(await runJson("target", "resolve", id, "--absent")).toMatchObject({
    error: { code: "invalid_transition" },
  });
});

test("`target resolve --absent` marks a target with an unknown outcome as failed with a retryable error", async () => {
  const id = await insertUnknown();

  expect(await runJson("target", "resolve", id, "--absent")).toEqual({
    id,
    status: "failed",
    externalId: null,
    permalink: null,
    publishedAt: null,
    error: {
      code: "platform_unavailable",
      message: "a person looked on the platform and found that it was not published",
      retryable: true,
    },
  });
});

test("`target resolve` without --json prints the address of the post or advises a retry", async () => {
  const link = "https://t.me/some_channel/78";
  const found = await run("target", "resolve", await insertUnknown(), "--published", link);
  expect(found).toMatchObject({ exitCode: 0, printed: expect.stringContaining(link) as string });
  const absent = await run("target", "resolve", await insertUnknown(), "--absent");
  expect(absent).toMatchObject({
    exitCode: 0,
    printed: expect.stringContaining("retry") as string,
  });
});

test("`target resolve` fails when no target has the given id", async () => {
  const { exitCode, printed, errors } = await run("target", "resolve", newId(), "--absent");
  expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
  expect(errors).toContain("the id does not exist");
});

test.each([
  [["target", "resolve"], "an argument of `target resolve` is missing"],
  [["target", "resolve", "a"], "give either --published URL or --absent"],
  [["target", "resolve", "a", "--published", "https://t.me/a/1", "--absent"], "or --absent"],
])("the command %j exits with code 2 and the error: %s", async (words, message) => {
  const { exitCode, errors } = await run(...words);
  expect(exitCode).toBe(2);
  expect(errors).toContain(message);
});

const PLACE = {
  systemIdentifier: expect.stringMatching(/^\d+$/) as string,
  databaseOid: expect.any(Number) as number,
  timeline: 1,
  deploymentId: "default",
};
const ACTIVE = { held: false, heldBecause: null };
const RECOVERY = {
  held: false,
  heldBecause: null,
  belongs: PLACE,
  lies: PLACE,
  restoredAt: null,
  dataUntil: null,
  trustedAt: null,
  openTargets: 0,
  tokens: ACTIVE,
  events: ACTIVE,
  files: { ...ACTIVE, keptUntil: null, store: { ...ACTIVE, belongsTo: "default" } },
};

test("`recovery mark` marks data as restored, `recovery adopt` takes the data over, and `recovery trust` declares a restore lossless only once", async () => {
  await eventually(async () => {
    expect(await runJson("recovery", "status")).toEqual(RECOVERY);
  });
  const files = { ...RECOVERY.files, keptUntil: INSTANT };
  const marked = { ...RECOVERY, restoredAt: INSTANT, files };
  expect(await runJson("recovery", "mark")).toEqual(marked);

  await database.sql`update deployment set deployment_id = 'production'`;
  for (const { sql } of [accountsDatabase, postsDatabase, mediaDatabase])
    await sql`update deployment set deployment_id = 'production'`;
  const held = { held: true, heldBecause: "deployment" };
  expect(await runJson("recovery", "status")).toEqual({
    ...marked,
    ...held,
    tokens: held,
    events: held,
    files: { ...held, keptUntil: null, store: null },
    belongs: { ...PLACE, deploymentId: "production" },
  });
  expect((await run("recovery", "status")).printed).toMatch(
    /^publishing +held: the data belongs to another deployment; postrider recovery adopt takes it over\ntokens +held: the data belongs to another deployment; postrider recovery adopt takes it over\n/,
  );

  const adopted = { ...marked, dataUntil: INSTANT };
  expect(await runJson("recovery", "adopt")).toEqual({ adopted: true, ...adopted });
  expect(await runJson("recovery", "adopt")).toEqual({ adopted: false, ...adopted });
  expect((await run("recovery", "status")).printed).toMatch(
    /^publishing +active\ntokens +active\n/,
  );

  expect((await run("recovery", "trust")).printed).toMatch(
    /^the restore at \S+Z counts as lossless: targets that it left in doubt, and new ones, are sent without a search$/,
  );
  expect(await runJson("recovery", "status")).toEqual({ ...marked, trustedAt: INSTANT });
  const again = await run("recovery", "trust");
  expect(again).toMatchObject({ exitCode: 1, printed: "" });
  expect(again.errors).toContain("the latest restore is already trusted; nothing changed");

  // Only the accounts service's data belongs to another deployment: the command adopts it although
  // the delivery service's data is already adopted.
  await accountsDatabase.sql`update deployment set deployment_id = 'production'`;
  expect(await runJson("recovery", "adopt")).toEqual({
    adopted: true,
    ...marked,
    trustedAt: INSTANT,
  });
});

test("`storage adopt` takes over an object store whose marker names another deployment, and `recovery adopt` does not", async () => {
  const marker = join(folder, "objects", "deployment");
  const [shard = ""] = await readdir(marker);
  const foreign = { deploymentId: "elsewhere", systemIdentifier: "7", databaseOid: 5, pass: 0 };
  await writeFile(join(marker, shard, "owner.json"), JSON.stringify(foreign));
  const store = { held: true, heldBecause: "deployment", belongsTo: expect.any(String) as string };

  expect(await runJson("recovery", "adopt")).toMatchObject({ files: { held: false, store } });
  expect((await run("recovery", "adopt")).printed).toMatch(
    /^uploads and imports are refused: the owner of the object store is elsewhere \(cluster 7, database 5\); if .+, run postrider storage adopt$/m,
  );
  expect((await run("recovery", "status")).printed).toMatch(
    /^object store of +elsewhere \(cluster 7, database 5\); if no other deployment uses the store, run postrider storage adopt$/m,
  );
  expect(await runJson("storage", "adopt")).toEqual({ adopted: true });
  expect(await runJson("storage", "adopt")).toEqual({ adopted: false });
  expect(await runJson("recovery", "status")).toMatchObject({
    files: { keptUntil: INSTANT, store: { held: false, belongsTo: "default" } },
  });
});
