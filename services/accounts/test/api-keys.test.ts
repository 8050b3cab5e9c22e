import { timestampDate, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import { hashApiKey, isApiKey, parseApiKey } from "@postrider/shared/secrets/api-keys";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { createApp, createDatabase, createTenant } from "./accounts-app.ts";

const database = await createDatabase();
const app = createApp(database);

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function admitOne(query: { keyHash: Uint8Array; workspaceId?: string; want?: number }) {
  const { answers, workspaces } = await app.admission.admit({ queries: [{ want: 1, ...query }] });
  return { key: answers[0]?.key, workspaces };
}

async function createWorkspaceId(name = "Another"): Promise<string> {
  const { workspace } = await app.workspaces.createWorkspace({ name });
  return workspace?.id ?? "";
}

test("an API key is returned once and stored as its hash", async () => {
  const { workspaceId, key, keyId } = await createTenant(app);
  expect(isApiKey(key)).toBe(true);
  const rows = await database.sql`select * from api_keys where id = ${keyId}`;
  expect(JSON.stringify(rows)).not.toContain(key.slice(12));
  expect(rows[0]).toMatchObject({ prefix: key.slice(0, 12), hash: hashApiKey(key) });
  const { apiKeys } = await app.apiKeys.listApiKeys({ workspaceId });
  expect(apiKeys).toHaveLength(1);
  expect(apiKeys[0]).toMatchObject({ id: keyId, name: "Test", workspaceIds: [workspaceId] });
});

test("a cell issues API keys that name it, and admits its keys from before it had a name", async () => {
  await using cell = createApp(database, { cell: "eu1" });
  const { key, workspaceId, keyHash } = await createTenant(cell);
  expect(parseApiKey(key)).toEqual({ cell: "eu1" });
  const [listed] = (await cell.apiKeys.listApiKeys({ workspaceId })).apiKeys;
  expect(listed?.prefix).toBe(key.slice(0, "pr_live_eu1_".length + 4));
  const old = await createTenant(app);
  const queries = [{ keyHash }, { keyHash: old.keyHash }].map((each) => ({ ...each, want: 1 }));
  const { answers } = await cell.admission.admit({ queries });
  expect(answers.map((answer) => answer.key?.workspaceIds)).toEqual([
    [workspaceId],
    [old.workspaceId],
  ]);
});

test("the scopes of an API key are stored sorted and without duplicates, and `all` stands for every scope", async () => {
  const { workspaceId } = await createTenant(app);
  const create = async (scopes: string[]) =>
    (await app.apiKeys.createApiKey({ name: "K", workspaceIds: [workspaceId], scopes })).apiKey
      ?.scopes;
  expect(await create(["posts:write", "accounts:read", "posts:write"])).toEqual([
    "accounts:read",
    "posts:write",
  ]);
  expect(await create(["all"])).toHaveLength(10);
});

test("CreateApiKey reports all invalid fields at once, and returns `not_found` for an unknown workspace", async () => {
  await expect(
    app.apiKeys.createApiKey({ name: " ", workspaceIds: [], scopes: ["posts:write", "root"] }),
  ).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ path: "/name" }, { path: "/scopes" }, { path: "/workspaceIds" }],
  });
  const workspaceIds = [await createWorkspaceId()];
  const past = timestampFromDate(new Date(Date.now() - 1000));
  await expect(
    app.apiKeys.createApiKey({ name: "K", workspaceIds, scopes: ["all"], expiresAt: past }),
  ).rejects.toMatchObject({ reason: "invalid_request", violations: [{ path: "/expiresAt" }] });
  await expect(
    app.apiKeys.createApiKey({ name: "K", workspaceIds: [newId()], scopes: ["all"] }),
  ).rejects.toMatchObject({ reason: "not_found" });
});

async function insertKeys(workspaceId: string, name: string, count: number): Promise<void> {
  await database.sql`
    with keys as (
      insert into api_keys (id, hash, prefix, name, scopes)
      select gen_random_uuid(), sha256((${name} || n)::bytea), 'pr', ${name}, '{posts:read}'
      from generate_series(1, ${count}::int) as n
      returning id
    )
    insert into api_key_workspaces (api_key_id, workspace_id)
    select id, ${workspaceId}
    from keys`;
}

test("a workspace has at most 500 API keys that work", async () => {
  const { sql } = database;
  const { workspaceId } = await createTenant(app);
  await insertKeys(workspaceId, "many", 499);
  await sql`update api_keys set created_at = now() - interval '2 days' where name = 'many'`;
  const wanted = { name: "more", workspaceIds: [workspaceId], scopes: ["posts:read"] };
  await expect(app.apiKeys.createApiKey(wanted)).rejects.toMatchObject({
    violations: [{ code: "too_many_keys", limit: 500, actual: 501 }],
  });
  await sql`update api_keys set revoked_at = now() where name = 'many'`;
  expect((await app.apiKeys.createApiKey(wanted)).apiKey).toMatchObject({ name: "more" });
});

test("a workspace makes at most 500 API keys in a day, however soon they end", async () => {
  const { sql } = database;
  const { workspaceId } = await createTenant(app);
  await insertKeys(workspaceId, "short", 499);
  await sql`update api_keys set expires_at = now() where name = 'short'`;
  const wanted = { name: "more", workspaceIds: [workspaceId], scopes: ["posts:read"] };
  await expect(app.apiKeys.createApiKey(wanted)).rejects.toMatchObject({ reason: "rate_limited" });
  await sql`update api_keys set created_at = now() - interval '25 hours' where name = 'short'`;
  expect((await app.apiKeys.createApiKey(wanted)).apiKey).toMatchObject({ name: "more" });
});

test("an API key is listed until a week after it expired", async () => {
  const { sql } = database;
  const { workspaceId, keyId } = await createTenant(app);
  const make = async (daysAgo: number) => {
    const wanted = { name: "expired", workspaceIds: [workspaceId], scopes: ["posts:read"] };
    const { apiKey } = await app.apiKeys.createApiKey(wanted);
    const id = apiKey?.id ?? "";
    await sql`update api_keys set expires_at = now() - ${daysAgo} * interval '1 day' where id = ${id}`;
    return id;
  };
  await make(8);
  const recent = await make(6);
  const { apiKeys } = await app.apiKeys.listApiKeys({ workspaceId });
  expect(apiKeys.map(({ id }) => id)).toEqual([recent, keyId]);
});

test("Admit returns the workspace of an API key, the workspace's request limit and the number of requests granted to the gateway", async () => {
  const { workspaceId, keyId, keyHash } = await createTenant(app);
  expect(await admitOne({ keyHash })).toMatchObject({
    key: { id: keyId, workspaceIds: [workspaceId] },
    workspaces: [
      {
        id: workspaceId,
        verified: true,
        requestsPerMinute: 600,
        granted: 30,
        remaining: 570,
        emptyForMs: 0,
      },
    ],
  });
});

test("Admit returns the same answer for unknown, revoked and expired API keys, and admits the valid key of the same batch", async () => {
  const good = await createTenant(app);
  const revoked = await createTenant(app);
  await app.apiKeys.revokeApiKey({ id: revoked.keyId });
  await app.apiKeys.revokeApiKey({ id: revoked.keyId });
  const expired = await createTenant(app);
  await database.sql`update api_keys set expires_at = now() - interval '1 ms' where id = ${expired.keyId}`;
  const keyHashes = [
    revoked.keyHash,
    expired.keyHash,
    hashApiKey("unknown"),
    new Uint8Array(3),
    new Uint8Array(),
    good.keyHash,
  ];
  const { answers, workspaces } = await app.admission.admit({
    queries: keyHashes.map((keyHash) => ({ keyHash, want: 1 })),
  });
  const keyIds = answers.map(({ key }) => key?.id);
  expect(keyIds).toEqual([undefined, undefined, undefined, undefined, undefined, good.keyId]);
  expect(workspaces.map(({ id }) => id)).toEqual([good.workspaceId]);
  const { apiKeys } = await app.apiKeys.listApiKeys({ workspaceId: revoked.workspaceId });
  expect(apiKeys).toEqual([]);
  await expect(app.apiKeys.revokeApiKey({ id: newId() })).rejects.toMatchObject({
    reason: "not_found",
  });
});

test("for an API key of two workspaces, Admit grants requests only when the caller names one of these workspaces", async () => {
  const one = await createWorkspaceId();
  const other = await createWorkspaceId();
  const foreign = await createWorkspaceId();
  const { key } = await app.apiKeys.createApiKey({
    name: "Two",
    workspaceIds: [one, other],
    scopes: ["posts:read"],
  });
  const keyHash = hashApiKey(key);
  expect(await admitOne({ keyHash, workspaceId: other })).toMatchObject({
    workspaces: [{ id: other, granted: 30 }],
  });
  for (const workspaceId of [undefined, foreign, newId(), "no-uuid", one.toUpperCase()]) {
    const named = workspaceId === undefined ? {} : { workspaceId };
    const { key: found, workspaces } = await admitOne({ keyHash, ...named });
    expect(found?.scopes).toEqual(["posts:read"]);
    expect(found?.workspaceIds.toSorted()).toEqual([one, other].toSorted());
    expect(workspaces).toEqual([]);
  }
});

test("the time of the last use of an API key is stored within seconds, and then at most once a minute", async () => {
  const { workspaceId, keyHash, keyId } = await createTenant(app);
  const lastUse = async () => {
    const { apiKeys } = await app.apiKeys.listApiKeys({ workspaceId });
    const at = apiKeys[0]?.lastUsedAt;
    return at === undefined ? undefined : timestampDate(at);
  };
  expect(await lastUse()).toBeUndefined();
  await admitOne({ keyHash });
  const first = await eventually(async () => (await lastUse()) ?? false);
  await admitOne({ keyHash });
  await app.apiKeyUse[Symbol.asyncDispose]();
  expect(await lastUse()).toEqual(first);

  await using later = createApp(database);
  await database.sql`update api_keys set last_used_at = now() - interval '61 s' where id = ${keyId}`;
  await later.admission.admit({ queries: [{ keyHash, want: 1 }] });
  await later.apiKeyUse[Symbol.asyncDispose]();
  expect((await lastUse())?.getTime()).toBeGreaterThan(Number(first));
});

test.each([
  [Date.parse("9999-12-31T23:59:59.999Z") + 1, "out_of_range"],
  [8.64e15, "out_of_range"],
  [1, "in_the_past"],
])(
  "CreateApiKey refuses the expiry %d, in milliseconds since 1970, with the error code %s",
  async (expiresAtMs, code) => {
    const workspaceId = await createWorkspaceId();
    const key = { name: "Key", workspaceIds: [workspaceId], scopes: ["posts:read"] };
    const expiresAt = timestampFromMs(expiresAtMs);
    await expect(app.apiKeys.createApiKey({ ...key, expiresAt })).rejects.toMatchObject({
      reason: "invalid_request",
      violations: [{ code, path: "/expiresAt" }],
    });
    await expect(
      app.apiKeys.createApiKey({ ...key, expiresAt: { seconds: 10n ** 17n, nanos: 0 } }),
    ).rejects.toMatchObject({ reason: "invalid_request" });
  },
);
