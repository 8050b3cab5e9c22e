import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DashboardService } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { connectPeer } from "@postrider/shared/connect/client";
import { makeIdentityKey } from "@postrider/shared/identity/identity-keys";
import { newId } from "@postrider/shared/ids";
import { hashApiKey, isApiKey } from "@postrider/shared/secrets/api-keys";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { startSimulator, type Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSettings, type Settings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";
import {
  createServiceDatabase,
  identities,
  INSTANT,
  MAIN,
  runTool,
  SEALING_KEYS,
  startService,
  type RunningService,
} from "./tool.ts";

let database: TestDatabase;
let simulator: Simulator;
let service: RunningService;
let settings: Settings;
let folder: string;

beforeAll(async () => {
  [database, simulator] = await Promise.all([
    createServiceDatabase("accounts"),
    startSimulator({ host: "127.0.0.1", port: 0 }),
  ]);
  service = await startService("accounts", database, {
    CREDENTIAL_KEYS: SEALING_KEYS,
    SIMULATOR_URL: simulator.url,
    BLUESKY_BASE_URL: `${simulator.url}/bluesky`,
    YOUTUBE_BASE_URL: `${simulator.url}/youtube`,
    YOUTUBE_CLIENT_ID: "app",
    YOUTUBE_CLIENT_SECRET: "secret",
  });
  folder = mkdtempSync(join(tmpdir(), "postrider-cli-"));
  settings = {
    urls: { accounts: service.url, posts: undefined, media: undefined, delivery: undefined },
    identity: identities.of("operator"),
  };
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

async function run(words: readonly string[], where: Settings = settings) {
  return await runTool(words, where);
}

/** Runs a command that must succeed, and parses its JSON output. */
async function json<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { exitCode, printed, errors } = await run([...words, "--json"]);
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  return JSON.parse(printed) as T;
}

async function createWorkspace(): Promise<string> {
  return (await json<{ id: string }>("workspace", "create", "--name", "Test")).id;
}

const ID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

test("the `workspace` commands create and list workspaces, mark a workspace as verified and set the limits of a workspace", async () => {
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

test("`workspace create --with-key` also creates an API key of the workspace with all scopes", async () => {
  const words = ["workspace", "create", "--name", "Team", "--verified", "--with-key"];
  const { id, key } = await json<{ id: string; key: string }>(...words);
  expect(isApiKey(key)).toBe(true);
  const { keys } = await json<{ keys: object[] }>("key", "list", "--workspace", id);
  expect(keys).toMatchObject([
    { name: "Team", scopes: expect.arrayContaining(["posts:write"]), workspaceIds: [id] },
  ]);
});

test("`key create` shows an API key in full, and `key list` shows the key's prefix until the key is revoked", async () => {
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
  const revoked = await json("key", "revoke", made.id);
  expect(revoked).toEqual({ id: made.id, revoked: true, madeKeys: [] });
  expect(await json("key", "list", "--workspace", one)).toEqual({ keys: [] });
});

test("`dashboard link` prints an address that opens the dashboard once, and `dashboard sessions` and `revoke` list and end its sessions", async () => {
  const workspace = await createWorkspace();
  const at = ["--workspace", workspace];
  const rights = ["--scopes", "posts:read, accounts:read"];
  const link = await json<{ url: string }>("dashboard", "link", ...at, ...rights);
  expect(link).toEqual({ url: link.url, workspaceId: workspace, expiresAt: INSTANT });
  expect(link.url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/app\/login#[\w-]{43}$/);
  const { printed } = await run(["dashboard", "link", ...at]);
  expect(printed).toMatch(/within 10 minutes; it works once:\n\n {2}http:\S+#[\w-]{43}$/);

  const peer = connectPeer({
    service: "accounts",
    baseUrl: service.url,
    identity: identities.of("gateway"),
  });
  const dashboard = peer.client(DashboardService);
  const secret = new URL(link.url).hash.slice(1);
  const value = hashApiKey(secret);
  const open = async () =>
    await dashboard.openDashboardSession({
      login: { case: "linkHash", value },
      userAgent: "Firefox on Linux",
    });
  const { session } = await open();
  await peer[Symbol.asyncDispose]();
  const record = {
    id: session?.id,
    keyId: null,
    userAgent: "Firefox on Linux",
    scopes: ["accounts:read", "posts:read"],
    createdAt: INSTANT,
    lastSeenAt: INSTANT,
    expiresAt: INSTANT,
  };
  expect(await json("dashboard", "sessions", ...at)).toEqual({ sessions: [record] });
  const unknown = await run(["dashboard", "revoke", ...at, "--session", newId(), "--json"]);
  expect([unknown.exitCode, unknown.errors]).toEqual([1, expect.stringContaining("not_found")]);
  const sessionId = session?.id ?? "";
  const create = ["key", "create", "--name", "Made", "--scopes", "posts:read", ...at];
  const made = await json<{ id: string; key: string }>(...create);
  await database.sql`update api_keys set makers = array[${sessionId}]::uuid[] where id = ${made.id}`;
  expect(await json("dashboard", "revoke", ...at, "--session", sessionId, "--with-keys")).toEqual({
    workspaceId: workspace,
    revoked: 1,
    keysEnded: true,
    madeKeys: [{ id: made.id, prefix: made.key.slice(0, 12), name: "Made" }],
  });
  expect(await json("key", "list", ...at)).toEqual({ keys: [] });
  expect(await json("dashboard", "revoke", ...at)).toMatchObject({ revoked: 0, madeKeys: [] });
  expect(await json("dashboard", "sessions", ...at)).toEqual({ sessions: [] });
});

test("`account connect --simulated` connects one account, or as many as --count says, and `account list` lists the connected accounts", async () => {
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
  expect(listed.accounts[0]).toMatchObject({
    platform: "bluesky",
    status: "active",
    permissions: {
      granted: ["publishing", "comments", "metrics"],
      missing: [],
      missingScopes: [],
    },
    traits: {},
  });
});

test("`account settings` shows the settings of an account, sets and resets them, and names the settings of the account when one is unknown", async () => {
  const workspace = await createWorkspace();
  const connect = ["account", "connect", "--workspace", workspace, "--simulated"];
  const { id } = await json<{ id: string }>(...connect, "youtube");
  const defaults = {
    categoryId: "22",
    madeForKids: false,
    notifySubscribers: true,
    license: "youtube",
    playlistId: null,
  };
  const record = { accountId: id, platform: "youtube", available: null };
  const set = (...words: readonly string[]) => json("account", "settings", id, ...words);
  expect(await set()).toEqual({ ...record, settings: defaults });
  expect(await set("--set", "madeForKids=true", "--set", "categoryId=28")).toEqual({
    ...record,
    settings: { ...defaults, madeForKids: true, categoryId: "28" },
  });
  expect(await set("--reset", "madeForKids")).toEqual({
    ...record,
    settings: { ...defaults, categoryId: "28" },
  });
  const bluesky = await json<{ id: string }>(...connect, "bluesky");
  expect(
    await json("account", "settings", bluesky.id, "--set", "languages=en,pt-BR"),
  ).toMatchObject({ settings: { languages: ["en", "pt-BR"] } });
  const errorOf = async (...words: readonly string[]) => {
    const { exitCode, errors } = await run(["account", "settings", ...words]);
    return [exitCode, errors.split("\n")[0]];
  };
  expect(await errorOf(bluesky.id, "--set", "silent=true")).toEqual([
    2,
    "error: `silent` is not a setting of this account; its settings are languages",
  ]);
  expect(await errorOf(bluesky.id, "--set", "languages=not a language")).toEqual([
    1,
    "error: the request is invalid: /languages/0 format",
  ]);
  expect(await errorOf(id, "--set", "license=free")).toEqual([
    1,
    "error: the request is invalid: /license not_allowed (allowed: youtube, creative_commons)",
  ]);
  expect((await errorOf(newId()))[0]).toBe(1);
  expect((await run(["account", "settings", bluesky.id])).printed).toBe("languages  en,pt-BR");
});

test("`pause` rejects the id of an account or workspace that does not exist", async () => {
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
  // A valid id passes the checks of the command, and the call fails because the delivery service
  // does not run in this test.
  expect(await codeOf("--account", account.id)).toBe("unavailable");
  expect(await codeOf("--workspace", workspace)).toBe("unavailable");
  expect(await codeOf("--platform", "x")).toBe("unavailable");
});

test("`events list` and `events redrive` succeed for a service without parked (dead-letter) events", async () => {
  expect(await json("events", "list", "--service", "accounts")).toEqual({ events: [] });
  expect(await json("events", "redrive", "--service", "accounts")).toEqual({
    redriven: 0,
    failed: 0,
  });
});

test("`key list` without --json prints aligned columns", async () => {
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
  // The app credentials of X are not configured in this test.
  [["account", "connect", "x", "--workspace", "w"], "invalid_request"],
])(
  "the command %j fails with the code %s on standard error and prints nothing on standard output",
  async (words, code) => {
    const { exitCode, printed, errors } = await run([...words, "--json"]);
    expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
    expect(JSON.parse(errors)).toEqual({ error: { code, message: expect.any(String) as string } });
    expect((await run(words)).errors).toMatch(/^error: /);
  },
);

test.each([
  [[], "the command is missing"],
  [["workspace"], "unknown command `workspace`"],
  [["doctor"], "there are `doctor config`, `doctor account`; or run `postrider help`"],
  [["workspaces", "list"], "unknown command `workspaces list`"],
  [["workspace", "create"], "--name is required"],
  [["workspace", "create", "--nam", "X"], "Unknown option '--nam'"],
  [["workspace", "create", "--name"], "--name"],
  [["workspace", "verify"], "an argument of `workspace verify` is missing"],
  [["workspace", "verify", "a", "b"], "unexpected argument `b`; run `postrider help`"],
  [["workspace", "set-limits", "a"], "a limit is missing"],
  [
    ["workspace", "set-limits", "a", "--daily-quota", "1.5"],
    "--daily-quota must be a whole number",
  ],
  [["key", "create", "--name", "K", "--scopes", "all"], "--workspace is required"],
  [["key", "create", "--expires-at", "tomorrow"], "--expires-at must be a time"],
  [["account", "connect", "bluesky", "--workspace", "w"], "--handle is required"],
  [["account", "connect", "bluesky", "--workspace", "w", "--handle", "h"], "standard input"],
  [["account", "connect", "telegram", "--workspace", "w"], "--chat is required"],
  [
    ["account", "connect", "x", "--workspace", "w", "--handle", "h"],
    "--handle is only for bluesky",
  ],
  [["events", "list", "--service", "gateway"], "--service must be one of"],
  [["events", "redrive", "some-id"], "--service"],
  [["pause"], "give exactly one of"],
  [["pause", "--platform", "x", "--account", "a"], "give exactly one of"],
])("the command %j exits with code 2 and the error: %s", async (words, message) => {
  const { exitCode, printed, errors } = await run(words);
  expect({ exitCode, printed }).toEqual({ exitCode: 2, printed: "" });
  expect(errors).toContain(message);
  expect(errors).toMatch(/usage: postrider|postrider help/);
});

test("an error of the command-line tool names the service whose address is unknown or that does not answer", async () => {
  const nothing = { ...settings, urls: { ...settings.urls, accounts: undefined } };
  const silent = { ...settings, urls: { ...settings.urls, accounts: "http://127.0.0.1:9" } };
  for (const [where, message] of [
    [nothing, "the address of accounts is unknown"],
    [{ ...settings, identity: undefined }, "IDENTITY_KEYS is missing"],
    [silent, "accounts at http://127.0.0.1:9 does not answer"],
  ] as const) {
    const { exitCode, errors } = await run(["workspace", "list", "--json"], where);
    expect(exitCode).toBe(1);
    const { error } = JSON.parse(errors) as { error: { code: string; message: string } };
    expect(error.code).toBe("unavailable");
    expect(error.message).toContain(message);
  }
});

test("environment variables override the service addresses that the command-line tool reads from the local stack of `npm start`", () => {
  const service = (port: number) => [{ pid: 1, url: `http://127.0.0.1:${port}`, metricsUrl: "" }];
  const services = {
    accounts: service(1),
    posts: service(2),
    media: service(4),
    delivery: service(3),
  };
  writeFileSync(join(folder, "local.json"), JSON.stringify({ services }));
  const { privateKey, publicKey } = makeIdentityKey();
  const identityKeys = { operator: `${privateKey},${makeIdentityKey().privateKey}` };
  writeFileSync(join(folder, "secrets.json"), JSON.stringify({ identityKeys }));
  expect(readSettings({ POSTS_URL: "http://posts:8082", DELIVERY_URL: "" }, folder)).toMatchObject({
    urls: {
      accounts: "http://127.0.0.1:1",
      posts: "http://posts:8082",
      media: "http://127.0.0.1:4",
      delivery: "http://127.0.0.1:3",
    },
    identity: { name: "operator", keys: [{ publicKey }, {}] },
  });
  expect(readSettings({}, join(folder, "nowhere"))).toEqual({
    urls: { accounts: undefined, posts: undefined, media: undefined, delivery: undefined },
    identity: undefined,
  });
});

test("`account connect bluesky` reads the app password from standard input", async () => {
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
  const connect = ["account", "connect", "bluesky", "--workspace", workspace];
  const words = [...connect, "--handle", identifier, "--json"];
  expect(await runTool(words, settings, "wrong")).toMatchObject({ exitCode: 1, printed: "" });
  // The tool runs as a separate process, so that the input, the outputs and the exit code are the
  // real ones.
  const { IDENTITY_KEYS } = identities.env("operator");
  const env = { ACCOUNTS_URL: settings.urls.accounts, IDENTITY_KEYS };
  const ended = promisify(execFile)(process.execPath, [MAIN, ...words], { env });
  ended.child.stdin?.end(`${appPassword}\n`);
  const { stdout, stderr } = await ended;
  expect(JSON.parse(stdout)).toEqual({
    id: ID,
    platform: "bluesky",
    username: "typed.sim.example",
  });
  expect(stderr).toBe("");
});

test("`account connect` prints the connect link on standard error and fails when the link expires", async () => {
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
  await database.sql`update authorizations set expires_at = now() where workspace_id = ${workspace}`;
  expect(await command).toBe(1);
  expect(JSON.parse(notes[1] ?? "")).toMatchObject({ error: { code: "expired" } });
});

test("`credentials keys` lists how many stored account credentials each encryption key is needed for", async () => {
  const { printed } = await run(["credentials", "keys", "--json"]);
  expect(JSON.parse(printed)).toEqual({
    keys: [{ id: "k1", status: "encrypts", credentials: expect.any(Number) as number }],
  });
});

test("the operator's tool exits with code 2 when its command line is wrong", async () => {
  const ended = promisify(execFile)(process.execPath, [MAIN, "nonsense"], { env: {} });
  await expect(ended).rejects.toMatchObject({ code: 2, stdout: "" });
});
