import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";

const SERVICES = join(import.meta.dirname, "../../../services");
const KEYS = `k1:${Buffer.alloc(32, 1).toString("base64")}`;
const INTERNAL_SECRET = "a secret that only this test and the services know";
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

/** Each service has a schema of its own, and here a database of its own too. */
let database: TestDatabase;
let accountsDatabase: TestDatabase;
const processes: ChildProcess[] = [];
let settings: Settings;

async function createDatabase(service: "accounts" | "delivery"): Promise<TestDatabase> {
  const migrationsFolder = join(SERVICES, service, "migrations");
  return await createTestDatabase({ service, migrationsFolder });
}

/** A free port is chosen by the service, which says it in its log. Nothing is due, so it talks to nobody. */
async function start(name: "accounts" | "delivery", { url: databaseUrl }: TestDatabase) {
  const service = spawn(process.execPath, [join(SERVICES, name, "src/main.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PORT: "0",
      METRICS_PORT: "0",
      BUS: "postgres",
      DATABASE_URL: databaseUrl,
      INTERNAL_SECRET,
      CREDENTIAL_KEYS: KEYS,
      HANDLE_KEYS: KEYS,
      MEDIA_KEY: "a key that this test has no use for yet is needed",
    },
  });
  processes.push(service);
  let log = "";
  service.stdout?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const url = await eventually(() => /"url":"(http[^"]+)"/.exec(log)?.[1] ?? false);
  await eventually(async () => (await fetch(`${url}/readyz`)).ok);
  return url;
}

beforeAll(async () => {
  database = await createDatabase("delivery");
  accountsDatabase = await createDatabase("accounts");
  const [accounts, delivery] = await Promise.all([
    start("accounts", accountsDatabase),
    start("delivery", database),
  ]);
  settings = {
    urls: { accounts, posts: undefined, media: undefined, delivery },
    internalSecret: INTERNAL_SECRET,
  };
});

afterAll(async () => {
  for (const service of processes) {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
  }
  await accountsDatabase[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function run(...words: readonly string[]) {
  const printed: string[] = [];
  const errors: string[] = [];
  const exitCode = await runCommand(words, settings, {
    print: (text) => void printed.push(text),
    printError: (text) => void errors.push(text),
  });
  return { exitCode, printed: printed.join("\n"), errors: errors.join("\n") };
}

async function runJson(...words: readonly string[]): Promise<unknown> {
  const { printed, errors } = await run(...words, "--json");
  return JSON.parse(printed === "" ? errors : printed);
}

/** A target whose outcome nobody could find out. */
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

test("what an operator found makes the target published, once", async () => {
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

test("what is absent can be retried", async () => {
  const id = await insertUnknown();

  expect(await runJson("target", "resolve", id, "--absent")).toEqual({
    id,
    status: "failed",
    externalId: null,
    permalink: null,
    publishedAt: null,
    error: {
      code: "platform_unavailable",
      message: "an operator found that it was not published",
      retryable: true,
    },
  });
});

test("people read a sentence", async () => {
  const link = "https://t.me/some_channel/78";
  const found = await run("target", "resolve", await insertUnknown(), "--published", link);
  expect(found).toMatchObject({ exitCode: 0, printed: expect.stringContaining(link) as string });
  const absent = await run("target", "resolve", await insertUnknown(), "--absent");
  expect(absent).toMatchObject({
    exitCode: 0,
    printed: expect.stringContaining("retry") as string,
  });
});

test("a target that nobody knows is not found", async () => {
  const { exitCode, printed, errors } = await run("target", "resolve", newId(), "--absent");
  expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
  expect(errors).toContain("there is nothing with that id");
});

test.each([
  [["target", "resolve"], "something is missing"],
  [["target", "resolve", "a"], "say --published URL or --absent"],
  [["target", "resolve", "a", "--published", "https://t.me/a/1", "--absent"], "or --absent"],
])("%j is explained with exit code 2", async (words, message) => {
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
const RECOVERY = {
  held: false,
  heldBecause: null,
  belongs: PLACE,
  lies: PLACE,
  restoredAt: null,
  dataUntil: null,
  openTargets: 0,
  tokens: { held: false, heldBecause: null },
};

test("data that is restored is marked; data from elsewhere is held and adopted, once", async () => {
  await eventually(async () => {
    expect(await runJson("recovery", "status")).toEqual(RECOVERY);
  });
  const marked = { ...RECOVERY, restoredAt: INSTANT };
  expect(await runJson("recovery", "mark")).toEqual(marked);

  await database.sql`update deployment set deployment_id = 'production'`;
  await accountsDatabase.sql`update deployment set deployment_id = 'production'`;
  const held = { held: true, heldBecause: "deployment" };
  expect(await runJson("recovery", "status")).toEqual({
    ...marked,
    ...held,
    tokens: held,
    belongs: { ...PLACE, deploymentId: "production" },
  });
  expect((await run("recovery", "status")).printed).toMatch(
    /^publishing +held: the deployment is another one; recovery adopt takes the data over\ntokens +held: the deployment is another one; recovery adopt takes the data over\n/,
  );

  const adopted = { ...marked, dataUntil: INSTANT };
  expect(await runJson("recovery", "adopt")).toEqual({ adopted: true, ...adopted });
  expect(await runJson("recovery", "adopt")).toEqual({ adopted: false, ...adopted });
  expect((await run("recovery", "status")).printed).toMatch(
    /^publishing +goes on\ntokens +are renewed\n/,
  );

  // One of the two had it done already, the other not.
  await accountsDatabase.sql`update deployment set deployment_id = 'production'`;
  expect(await runJson("recovery", "adopt")).toEqual({ adopted: true, ...adopted });
});
