import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { newId } from "@postrider/shared/ids";
import { isApiKey } from "@postrider/shared/secrets/api-keys";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { startSimulator, type Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSettings, type Settings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";

const ACCOUNTS = join(import.meta.dirname, "../../../services/accounts");
const INTERNAL_SECRET = "a secret that only this test and the service know";

let database: TestDatabase;
let simulator: Simulator;
let service: ChildProcess;
let settings: Settings;
let folder: string;

/** A free port is chosen by the service, which says it in its log. */
async function startAccounts(): Promise<string> {
  service = spawn(process.execPath, [join(ACCOUNTS, "src/main.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PORT: "0",
      METRICS_PORT: "0",
      BUS: "postgres",
      DATABASE_URL: database.url,
      INTERNAL_SECRET,
      CREDENTIAL_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      SIMULATOR_URL: simulator.url,
      BLUESKY_BASE_URL: `${simulator.url}/bluesky`,
      YOUTUBE_BASE_URL: `${simulator.url}/youtube`,
      YOUTUBE_CLIENT_ID: "app",
      YOUTUBE_CLIENT_SECRET: "secret",
    },
  });
  let log = "";
  service.stdout?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const url = await eventually(() => /"url":"(http[^"]+)"/.exec(log)?.[1] ?? false);
  await eventually(async () => (await fetch(`${url}/readyz`)).ok);
  return url;
}

beforeAll(async () => {
  const migrationsFolder = join(ACCOUNTS, "migrations");
  [database, simulator] = await Promise.all([
    createTestDatabase({ service: "accounts", migrationsFolder }),
    startSimulator({ host: "127.0.0.1", port: 0 }),
  ]);
  const accounts = await startAccounts();
  folder = mkdtempSync(join(tmpdir(), "postrider-cli-"));
  settings = {
    urls: { accounts, posts: undefined, media: undefined, delivery: undefined },
    internalSecret: INTERNAL_SECRET,
  };
});

afterAll(async () => {
  service.kill("SIGTERM");
  if (service.exitCode === null) await once(service, "exit");
  rmSync(folder, { recursive: true });
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

async function run(words: readonly string[], where: Settings = settings) {
  const printed: string[] = [];
  const errors: string[] = [];
  const exitCode = await runCommand(words, where, {
    print: (text) => void printed.push(text),
    printError: (text) => void errors.push(text),
  });
  return { exitCode, printed: printed.join("\n"), errors: errors.join("\n") };
}

/** Runs a command that works and reads its JSON. */
async function json<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { exitCode, printed, errors } = await run([...words, "--json"]);
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  return JSON.parse(printed) as T;
}

async function createWorkspace(): Promise<string> {
  return (await json<{ id: string }>("workspace", "create", "--name", "Test")).id;
}

const ID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

test("workspaces are created, listed, verified and limited", async () => {
  const made = await json<{ id: string }>("workspace", "create", "--name", "Acme", "--verified");
  expect(made).toMatchObject({ id: ID, name: "Acme", verified: true });
  const id = await createWorkspace();
  expect(await json("workspace", "verify", id)).toMatchObject({ id, verified: true });
  const limits = ["--requests-per-minute", "60", "--monthly-quota", "0"];
  expect(await json("workspace", "set-limits", id, ...limits)).toEqual({
    id,
    name: "Test",
    verified: true,
    requestsPerMinute: 60,
    monthlyQuota: 0,
    dailyQuota: null,
    createdAt: INSTANT,
  });
  const { workspaces } = await json<{ workspaces: { id: string }[] }>("workspace", "list");
  expect(workspaces.slice(0, 2).map((each) => each.id)).toEqual([id, made.id]);
});

test("a key is shown in full once, then listed by its prefix until it is revoked", async () => {
  const [one, other] = [await createWorkspace(), await createWorkspace()];
  const members = ["--workspace", one, "--workspace", other];
  const rights = ["--scopes", "posts:write,accounts:read"];
  const end = ["--expires-at", "2099-01-01T09:00:00+09:00"];
  const create = ["key", "create", "--name", "CI", ...members, ...rights, ...end];
  const made = await json<{ id: string; key: string }>(...create);
  const expiresAt = "2099-01-01T00:00:00.000Z";
  const record = {
    name: "CI",
    scopes: ["accounts:read", "posts:write"],
    workspaceIds: [one, other].toSorted(),
    expiresAt,
  };
  expect(made).toEqual({ id: ID, key: made.key, ...record });
  expect(isApiKey(made.key)).toBe(true);
  expect(await json("key", "list", "--workspace", other)).toEqual({
    keys: [{ id: made.id, prefix: made.key.slice(0, 12), ...record, lastUsedAt: null }],
  });
  await json("key", "revoke", made.id);
  expect(await json("key", "list", "--workspace", one)).toEqual({ keys: [] });
});

test("simulated accounts are connected one by one or by the number, and listed", async () => {
  const workspace = await createWorkspace();
  const connect = ["account", "connect", "bluesky", "--workspace", workspace, "--simulated"];
  const account = await json<{ username: string }>(...connect);
  expect(account).toEqual({ id: ID, platform: "bluesky", username: account.username });
  expect(await json(...connect, "--username", account.username)).toEqual(account);
  const { accounts } = await json<{ accounts: object[] }>(...connect, "--count", "3");
  expect(accounts).toHaveLength(3);
  expect(await json(...connect, "--count", "1")).toMatchObject({
    accounts: [{ platform: "bluesky" }],
  });
  const listed = await json<{ accounts: object[] }>("account", "list", "--workspace", workspace);
  expect(listed.accounts).toHaveLength(5);
  expect(listed.accounts[0]).toMatchObject({ platform: "bluesky", status: "active" });
});

test("only what somebody has is paused", async () => {
  const workspace = await createWorkspace();
  const connect = ["account", "connect", "bluesky", "--workspace", workspace, "--simulated"];
  const account = await json<{ id: string }>(...connect);
  const codeOf = async (...words: readonly string[]) => {
    const { exitCode, errors } = await run(["pause", ...words, "--json"]);
    expect(exitCode).toBe(1);
    return (JSON.parse(errors) as { error: { code: string } }).error.code;
  };
  expect(await codeOf("--account", newId())).toBe("not_found");
  expect(await codeOf("--account", workspace)).toBe("not_found");
  expect(await codeOf("--workspace", account.id)).toBe("not_found");
  // What exists gets as far as delivery, which does not run here.
  expect(await codeOf("--account", account.id)).toBe("unavailable");
  expect(await codeOf("--workspace", workspace)).toBe("unavailable");
  expect(await codeOf("--platform", "x")).toBe("unavailable");
});

test("parked events are listed and tried again", async () => {
  expect(await json("events", "list", "--service", "accounts")).toEqual({ events: [] });
  expect(await json("events", "redrive", "--service", "accounts")).toEqual({
    redriven: 0,
    failed: 0,
  });
});

test("people read aligned columns", async () => {
  const workspace = await createWorkspace();
  expect((await run(["key", "list", "--workspace", workspace])).printed).toBe("no keys");
  const key = ["key", "create", "--name", "People", "--workspace", workspace, "--scopes", "all"];
  expect((await run(key)).printed).toMatch(/^id {10}\S+\nkey {9}pr_live_\w{49}\nname {8}People\n/);
  const { printed } = await run(["key", "list", "--workspace", workspace]);
  const [head = "", row = ""] = printed.split("\n");
  expect(head).toMatch(/^ID +PREFIX +EXPIRES +LAST USED +NAME +SCOPES$/);
  expect(row.indexOf("pr_live_")).toBe(head.indexOf("PREFIX"));
  expect(row.indexOf("People")).toBe(head.indexOf("NAME"));
});

test.each([
  [["workspace", "verify", "0198a6a4-0000-7000-8000-000000000001"], "not_found"],
  [["workspace", "create", "--name", " "], "invalid_request"],
  [["account", "connect", "x", "--workspace", "w", "--simulated"], "invalid_request"],
  // Its app is not configured here.
  [["account", "connect", "x", "--workspace", "w"], "invalid_request"],
])("%j fails with a code on stderr and nothing on stdout", async (words, code) => {
  const { exitCode, printed, errors } = await run([...words, "--json"]);
  expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
  expect(JSON.parse(errors)).toEqual({ error: { code, message: expect.any(String) as string } });
  expect((await run(words)).errors).toMatch(/^error: /);
});

test.each([
  [[], "no command"],
  [["workspace"], 'there is no command "workspace"'],
  [["workspaces", "list"], 'there is no command "workspaces list"'],
  [["workspace", "create"], "--name is required"],
  [["workspace", "create", "--nam", "X"], "Unknown option '--nam'"],
  [["workspace", "create", "--name"], "--name"],
  [["workspace", "verify"], "something is missing"],
  [["workspace", "verify", "a", "b"], "b is one word too many"],
  [["workspace", "set-limits", "a"], "no limit is named"],
  [["workspace", "set-limits", "a", "--daily-quota", "1.5"], "--daily-quota is a whole number"],
  [["key", "create", "--name", "K", "--scopes", "all"], "--workspace is required"],
  [["key", "create", "--expires-at", "tomorrow"], "--expires-at is a time"],
  [["account", "connect", "bluesky", "--workspace", "w"], "--handle is required"],
  [["account", "connect", "bluesky", "--workspace", "w", "--handle", "h"], "standard input"],
  [["account", "connect", "telegram", "--workspace", "w"], "--chat is required"],
  [["events", "list", "--service", "gateway"], "--service is one of"],
  [["events", "redrive", "some-id"], "--service"],
  [["pause"], "name one of"],
  [["pause", "--platform", "x", "--account", "a"], "name one of"],
])("%j is explained with exit code 2", async (words, message) => {
  const { exitCode, printed, errors } = await run(words);
  expect({ exitCode, printed }).toEqual({ exitCode: 2, printed: "" });
  expect(errors).toContain(message);
  expect(errors).toMatch(/usage: postrider|postrider --help/);
});

test("a stack that does not run, or does not answer, is named", async () => {
  const nothing = { ...settings, urls: { ...settings.urls, accounts: undefined } };
  const silent = { ...settings, urls: { ...settings.urls, accounts: "http://127.0.0.1:9" } };
  for (const [where, message] of [
    [nothing, "no accounts service is running"],
    [{ ...settings, internalSecret: undefined }, "INTERNAL_SECRET is unknown"],
    [silent, "accounts at http://127.0.0.1:9 does not answer"],
  ] as const) {
    const { exitCode, errors } = await run(["workspace", "list", "--json"], where);
    expect(exitCode).toBe(1);
    const { error } = JSON.parse(errors) as { error: { code: string; message: string } };
    expect(error.code).toBe("unavailable");
    expect(error.message).toContain(message);
  }
});

test("the environment wins over the description of the running stack", () => {
  const service = (port: number) => [{ pid: 1, url: `http://127.0.0.1:${port}`, metricsUrl: "" }];
  const services = {
    accounts: service(1),
    posts: service(2),
    media: service(4),
    delivery: service(3),
  };
  writeFileSync(join(folder, "local.json"), JSON.stringify({ services }));
  writeFileSync(join(folder, "secrets.json"), JSON.stringify({ internalSecret: "local,older" }));
  expect(readSettings({ POSTS_URL: "http://posts:8082", DELIVERY_URL: "" }, folder)).toEqual({
    urls: {
      accounts: "http://127.0.0.1:1",
      posts: "http://posts:8082",
      media: "http://127.0.0.1:4",
      delivery: "http://127.0.0.1:3",
    },
    internalSecret: "local",
  });
  expect(readSettings({}, join(folder, "nowhere"))).toEqual({
    urls: { accounts: undefined, posts: undefined, media: undefined, delivery: undefined },
    internalSecret: undefined,
  });
});

test("bluesky is connected by handle, with the app password from standard input only", async () => {
  const created = await fetch(`${simulator.url}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform: "bluesky", username: "typed.sim.example" }),
  });
  const { accounts } = (await created.json()) as {
    accounts: { credentials: { identifier: string; appPassword: string } }[];
  };
  const { identifier = "", appPassword = "" } = accounts[0]?.credentials ?? {};
  const workspace = await createWorkspace();
  const words = ["account", "connect", "bluesky", "--workspace", workspace, "--handle", identifier];
  const main = join(import.meta.dirname, "../src/main.ts");
  const env = { ACCOUNTS_URL: settings.urls.accounts, INTERNAL_SECRET };
  const connect = async (password: string) => {
    const child = promisify(execFile)(process.execPath, [main, ...words, "--json"], { env });
    child.child.stdin?.end(`${password}\n`);
    return await child;
  };
  await expect(connect("wrong")).rejects.toMatchObject({ code: 1, stdout: "" });
  const { stdout, stderr } = await connect(appPassword);
  expect(JSON.parse(stdout)).toEqual({
    id: expect.any(String) as string,
    platform: "bluesky",
    username: "typed.sim.example",
  });
  expect(stderr).toBe("");
});

test("a link is noted, and its failure is the command's", async () => {
  const workspace = await createWorkspace();
  const notes: string[] = [];
  const words = ["account", "connect", "youtube", "--workspace", workspace, "--json"];
  const command = runCommand(words, settings, {
    print: () => undefined,
    printError: (text) => void notes.push(text),
  });
  const [note = ""] = await eventually(() => notes.length > 0 && notes);
  expect(JSON.parse(note)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/connect\/[\w-]{43}$/) as string,
    expiresAt: expect.any(String) as string,
  });
  await database.sql`update oauth_tickets set expires_at = now() where workspace_id = ${workspace}`;
  expect(await command).toBe(1);
  expect(JSON.parse(notes[1] ?? "")).toMatchObject({ error: { code: "expired" } });
});

test("the operator sees how many credentials need each key", async () => {
  const { printed } = await run(["credentials", "keys", "--json"]);
  expect(JSON.parse(printed)).toEqual({
    keys: [{ id: "k1", status: "encrypts", credentials: expect.any(Number) as number }],
  });
});

test("the program prints its answer on stdout and ends by itself", async () => {
  const main = join(import.meta.dirname, "../src/main.ts");
  const env = { ACCOUNTS_URL: settings.urls.accounts, INTERNAL_SECRET };
  const execute = promisify(execFile);
  const { stdout, stderr } = await execute(
    process.execPath,
    [main, "--json", "workspace", "create", "--name", "Process"],
    { env },
  );
  expect(JSON.parse(stdout)).toMatchObject({ name: "Process", verified: false });
  expect(stderr).toBe("");
  await expect(execute(process.execPath, [main, "nonsense"], { env })).rejects.toMatchObject({
    code: 2,
  });
});
