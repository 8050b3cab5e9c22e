import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import { hashApiKey, isApiKey } from "@postrider/shared/secrets/api-keys";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { readAuditLog } from "@postrider/shared/testing/audit";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { deleteEndedSessions } from "#src/db/dashboard-sessions.ts";
import { createTenant } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();
const DAY_MS = 86_400_000;

/** As the gateway sends it: only hashes leave the gateway. */
async function openWith(
  login: { readonly link?: string; readonly key?: string },
  more: { readonly workspaceId?: string; readonly replaced?: string } = {},
) {
  const { link, key = "" } = login;
  const { workspaceId, replaced } = more;
  return await fixture.app.dashboard.openDashboardSession({
    login:
      link === undefined
        ? { case: "keyHash", value: hashApiKey(key) }
        : { case: "linkHash", value: hashApiKey(link) },
    userAgent: "Firefox on Linux",
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(replaced === undefined ? {} : { replacedHash: hashApiKey(replaced) }),
  });
}

async function issueLink(workspaceId: string, scopes = ["all"]): Promise<string> {
  const { url } = await fixture.app.dashboard.issueDashboardLink({ workspaceId, scopes });
  return new URL(url).hash.slice(1);
}

async function admit(token: string, more: { workspaceId?: string; session?: boolean } = {}) {
  const query = { keyHash: hashApiKey(token), want: 1, session: true, ...more };
  const { answers, workspaces } = await fixture.app.admission.admit({ queries: [query] });
  return { session: answers[0]?.key, workspaces };
}

test("a login link opens one session with its scopes, and the database contains neither its secret nor the token", async () => {
  const { workspaceId } = await createTenant(fixture.app);
  const { url, expiresAt } = await fixture.app.dashboard.issueDashboardLink({
    workspaceId,
    scopes: ["posts:read", "accounts:read"],
  });
  expect(url).toMatch(/^https:\/\/postrider\.example\/app\/login#[\w-]{43}$/);
  expect(expiresAt && timestampDate(expiresAt).getTime()).toBeCloseTo(Date.now() + 600_000, -4);
  const link = new URL(url).hash.slice(1);
  const stored = await fixture.sql`select t::text as row from dashboard_links t`;
  expect(JSON.stringify(stored)).not.toContain(link);

  const opened = await openWith({ link });
  expect(opened).toMatchObject({
    outcome: "opened",
    workspace: { id: workspaceId, name: "Test", verified: true },
    session: { scopes: ["accounts:read", "posts:read"], userAgent: "Firefox on Linux" },
  });
  expect(opened.session?.key).toBeUndefined();
  expect(isApiKey(opened.token, "session")).toBe(true);
  const rows = await fixture.sql`select t::text as row from dashboard_sessions t`;
  expect(JSON.stringify(rows)).not.toContain(opened.token);
  expect(await openWith({ link })).toMatchObject({ outcome: "refused", token: "" });
});

test("of several browsers that use one login link at once, one gets a session", async () => {
  const { workspaceId } = await createTenant(fixture.app);
  const link = await issueLink(workspaceId);
  const answers = await Promise.all(Array.from({ length: 6 }, () => openWith({ link })));
  expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual([
    "opened",
    ...Array.from({ length: 5 }, () => "refused"),
  ]);
});

test("a login link does not work after 10 minutes", async () => {
  const { workspaceId } = await createTenant(fixture.app);
  const link = await issueLink(workspaceId);
  await fixture.sql`update dashboard_links set expires_at = now() where hash = ${hashApiKey(link)}`;
  expect(await openWith({ link })).toMatchObject({ outcome: "refused" });
});

test("IssueDashboardLink refuses an unknown scope and an unknown workspace", async () => {
  const { workspaceId } = await createTenant(fixture.app);
  const issue = (id: string, scopes: string[]) => issueLink(id, scopes);
  await expect(issue(workspaceId, ["root"])).rejects.toMatchObject({ reason: "invalid_request" });
  await expect(issue(newId(), ["all"])).rejects.toMatchObject({ reason: "not_found" });
});

test("a session is admitted like its API key: with the scopes, the workspace and the request budget of the key", async () => {
  const { workspaceId, key, keyId, keyHash } = await createTenant(fixture.app);
  const { token, session } = await openWith({ key });
  const byKey = await admit(key, { session: false });
  const bySession = await admit(token);
  expect(bySession.session).toMatchObject({
    id: keyId,
    sessionId: session?.id,
    scopes: byKey.session?.scopes,
    workspaceIds: [workspaceId],
  });
  expect(session).toMatchObject({ key: { id: keyId, name: "Test", prefix: key.slice(0, 12) } });
  const { workspaces } = await fixture.app.admission.admit({
    queries: [
      { keyHash, want: 300 },
      { keyHash: hashApiKey(token), want: 300, session: true },
    ],
  });
  expect(workspaces).toHaveLength(1);
  expect(workspaces[0]?.granted).toBeLessThan(600);
  expect((await admit(token, { workspaceId: newId() })).workspaces).toEqual([]);
});

test("the token of a session is unknown as an API key, and an API key as a session", async () => {
  const { key } = await createTenant(fixture.app);
  const { token } = await openWith({ key });
  expect((await admit(token, { session: false })).session).toBeUndefined();
  expect((await admit(key)).session).toBeUndefined();
});

test("an API key of two workspaces opens a session only for one that is named", async () => {
  const [one, other] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  const workspaceIds = [one, other].toSorted();
  const { key } = await fixture.app.apiKeys.createApiKey({
    name: "Two",
    workspaceIds,
    scopes: ["all"],
  });
  expect(await openWith({ key })).toMatchObject({ outcome: "workspace_required", workspaceIds });
  expect(await openWith({ key }, { workspaceId: newId() })).toMatchObject({ outcome: "refused" });
  const { token } = await openWith({ key }, { workspaceId: other });
  expect((await admit(token)).session).toMatchObject({ workspaceIds: [other] });
});

test("a login always makes a new session, and ends the one that it replaces in the same browser", async () => {
  const { workspaceId, key } = await createTenant(fixture.app);
  const before = await openWith({ key });
  const after = await openWith({ key }, { replaced: before.token });
  expect(after.session?.id).not.toBe(before.session?.id);
  expect(after.token).not.toBe(before.token);
  expect((await admit(before.token)).session).toBeUndefined();
  const { sessions } = await fixture.app.dashboard.listDashboardSessions({ workspaceId });
  expect(sessions.map(({ id }) => id)).toEqual([after.session?.id]);
});

test("a session ends with its API key, and no session is opened with a revoked or expired one", async () => {
  const { key, keyId } = await createTenant(fixture.app);
  const { token } = await openWith({ key });
  await fixture.app.apiKeys.revokeApiKey({ id: keyId });
  expect((await admit(token)).session).toBeUndefined();
  expect(await openWith({ key })).toMatchObject({ outcome: "refused" });

  const expiring = await createTenant(fixture.app);
  await fixture.sql`update api_keys set expires_at = now() + interval '1 hour' where id = ${expiring.keyId}`;
  const { session } = await openWith({ key: expiring.key });
  const endsAt = session?.expiresAt === undefined ? 0 : timestampDate(session.expiresAt).getTime();
  expect(endsAt).toBeLessThan(Date.now() + 3_601_000);
  await fixture.sql`update api_keys set expires_at = now() where id = ${expiring.keyId}`;
  expect(await openWith({ key: expiring.key })).toMatchObject({ outcome: "refused" });
});

test("a key that is made in the session of an expiring key expires with it at the latest", async () => {
  const { apiKeys } = fixture.app;
  const { keyId, workspaceId } = await createTenant(fixture.app);
  const [{ end }] = await fixture.sql<[{ end: Date }]>`
    update api_keys
    set expires_at = now() + interval '1 hour'
    where id = ${keyId}
    returning expires_at as end`;
  const request = { name: "Made", workspaceIds: [workspaceId], scopes: ["posts:read"] };
  const createdIn = async (origin: object, expiresAt?: Date) => {
    const context = { requestId: newId(), caller: "gateway" as const, origin };
    const expiry = expiresAt === undefined ? {} : { expiresAt: timestampFromDate(expiresAt) };
    const { apiKey } = await runInContext(context, () =>
      apiKeys.createApiKey({ ...request, ...expiry }),
    );
    return apiKey?.expiresAt && timestampDate(apiKey.expiresAt);
  };
  const sooner = new Date(end.getTime() - 60_000);
  const later = new Date(end.getTime() + 60_000);
  expect(await createdIn({ keyId })).toEqual(end);
  expect(await createdIn({ keyId }, later)).toEqual(end);
  expect(await createdIn({ keyId }, sooner)).toEqual(sooner);
  const { session } = await openWith({ link: await issueLink(workspaceId) });
  const opened = { sessionId: session?.id };
  expect(await createdIn(opened, later)).toEqual(later);
  expect(await createdIn(opened)).toBeUndefined();
});

test("a key or session that has just ended makes no key, although gateways still admit it", async () => {
  const { apiKeys, dashboard } = fixture.app;
  const { keyId, key, workspaceId } = await createTenant(fixture.app);
  const other = await createTenant(fixture.app);
  const createIn = async (origin: object) =>
    await runInContext({ requestId: newId(), caller: "gateway", origin }, () =>
      apiKeys.createApiKey({ name: "Made", workspaceIds: [workspaceId], scopes: ["posts:read"] }),
    );
  const refused = { kind: "unauthenticated" };
  const [byKey, byLink] = [
    await openWith({ key }),
    await openWith({ link: await issueLink(workspaceId) }),
  ];
  await createIn({ keyId, sessionId: byKey.session?.id });
  await expect(createIn({ keyId: other.keyId })).rejects.toMatchObject(refused);
  await dashboard.revokeDashboardSessions({ workspaceId });
  await expect(createIn({ keyId, sessionId: byKey.session?.id })).rejects.toMatchObject(refused);
  await expect(createIn({ sessionId: byLink.session?.id })).rejects.toMatchObject(refused);
  await apiKeys.revokeApiKey({ id: keyId });
  await expect(createIn({ keyId })).rejects.toMatchObject(refused);
});

test("a key makes at most 100 keys, with those that its keys make", async () => {
  const { keyId, workspaceId } = await createTenant(fixture.app);
  const createIn = async (origin: object) =>
    await runInContext({ requestId: newId(), caller: "gateway", origin }, () =>
      fixture.app.apiKeys.createApiKey({
        name: "Made",
        workspaceIds: [workspaceId],
        scopes: ["posts:read"],
      }),
    );
  const made = (await createIn({ keyId })).apiKey?.id;
  await createIn({ keyId: made });
  await fixture.sql`
    insert into api_keys (id, hash, prefix, name, scopes, makers)
    select gen_random_uuid(), sha256((n || ${keyId})::bytea), 'pr', 'made', '{posts:read}', array[${keyId}::uuid]
    from generate_series(1, 98) as n`;
  for (const id of [keyId, made])
    await expect(createIn({ keyId: id })).rejects.toMatchObject({
      violations: [{ code: "too_many_keys", limit: 100, actual: 101 }],
    });
});

async function makeKeyIn(workspaceId: string, origin: object, name = "Made") {
  const context = { requestId: newId(), caller: "gateway" as const, origin };
  const { key, apiKey } = await runInContext(context, () =>
    fixture.app.apiKeys.createApiKey({ name, workspaceIds: [workspaceId], scopes: ["posts:read"] }),
  );
  return { key, id: apiKey?.id ?? "" };
}

const makeKey = async (workspaceId: string, keyId: string, name?: string) =>
  await makeKeyIn(workspaceId, { keyId }, name);

const isAdmitted = async (key: string) =>
  (await admit(key, { session: false })).session !== undefined;

test("revoking an API key ends the keys that were made in its sessions, and those that they made, with their sessions", async () => {
  const { workspaceId, key, keyId } = await createTenant(fixture.app);
  const child = await makeKey(workspaceId, keyId, "Child");
  const sibling = await makeKey(workspaceId, keyId, "Sibling");
  const grandchild = await makeKey(workspaceId, child.id, "Grandchild");
  const { token } = await openWith({ key: grandchild.key });

  const first = await fixture.app.apiKeys.revokeApiKey({ id: child.id });
  expect(first.madeKeys).toMatchObject([{ id: grandchild.id, name: "Grandchild" }]);
  expect((await admit(token)).session).toBeUndefined();
  expect(await Promise.all([child, grandchild].map((each) => isAdmitted(each.key)))).toEqual([
    false,
    false,
  ]);
  expect(await Promise.all([key, sibling.key].map(isAdmitted))).toEqual([true, true]);

  const second = await fixture.app.apiKeys.revokeApiKey({ id: keyId });
  expect(second.madeKeys.map(({ id }) => id)).toEqual([sibling.id]);
  expect(await Promise.all([key, sibling.key].map(isAdmitted))).toEqual([false, false]);
  expect((await fixture.app.apiKeys.revokeApiKey({ id: keyId })).madeKeys).toEqual([]);
});

test("the revocation of a session lists the keys that were made in it, and ends them and those that they made if it is asked to", async () => {
  const { dashboard } = fixture.app;
  const { workspaceId, key, keyId } = await createTenant(fixture.app);
  const openLink = async () =>
    (await openWith({ link: await issueLink(workspaceId) })).session?.id ?? "";
  const [listed, ended] = [await openLink(), await openLink()];
  const kept = await makeKeyIn(workspaceId, { sessionId: listed }, "Kept");
  const child = await makeKeyIn(workspaceId, { sessionId: ended });
  const grandchild = await makeKey(workspaceId, child.id);

  const first = await dashboard.revokeDashboardSessions({ workspaceId, id: listed });
  expect(first.madeKeys).toMatchObject([{ id: kept.id, name: "Kept" }]);
  const both = { workspaceId, endsKeys: true };
  const second = await dashboard.revokeDashboardSessions({ ...both, id: ended });
  expect(second.madeKeys.map(({ id }) => id)).toEqual([child.id, grandchild.id]);

  const ofKey = { keyId, sessionId: (await openWith({ key })).session?.id };
  const made = await makeKeyIn(workspaceId, ofKey);
  const third = await dashboard.revokeDashboardSessions(both);
  expect(third.madeKeys.map(({ id }) => id)).toEqual([made.id]);
  const keys = [child.key, grandchild.key, made.key, kept.key, key];
  expect(await Promise.all(keys.map(isAdmitted))).toEqual([false, false, false, true, true]);
  const entries = await readAuditLog(fixture.sql);
  expect(entries.at(-1)).toMatchObject({ action: "key.revoke", subject: ["key", made.id] });
});

test("the revocation of a session that has ended lists and ends the keys that were made in it, only from its workspace", async () => {
  const { dashboard } = fixture.app;
  const { workspaceId } = await createTenant(fixture.app);
  const foreign = await createTenant(fixture.app);
  const id = (await openWith({ link: await issueLink(workspaceId) })).session?.id ?? "";
  const child = await makeKeyIn(workspaceId, { sessionId: id });
  const grandchild = await makeKey(workspaceId, child.id);
  await dashboard.revokeDashboardSessions({ workspaceId, id });

  for (const endsKeys of [false, true])
    await expect(
      dashboard.revokeDashboardSessions({ workspaceId: foreign.workspaceId, id, endsKeys }),
    ).rejects.toMatchObject({ reason: "not_found" });
  const answer = { count: 0, madeKeys: [{ id: child.id }, { id: grandchild.id }] };
  expect(await dashboard.revokeDashboardSessions({ workspaceId, id })).toMatchObject(answer);
  const keys = [child.key, grandchild.key];
  expect(await Promise.all(keys.map(isAdmitted))).toEqual([true, true]);

  const ending = { workspaceId, id, endsKeys: true };
  expect(await dashboard.revokeDashboardSessions(ending)).toMatchObject(answer);
  expect(await Promise.all(keys.map(isAdmitted))).toEqual([false, false]);
  await expect(dashboard.revokeDashboardSessions(ending)).rejects.toMatchObject({
    reason: "not_found",
  });
});

test("the session of a link makes at most 100 keys, with those that its keys make", async () => {
  const { workspaceId } = await createTenant(fixture.app);
  const { session } = await openWith({ link: await issueLink(workspaceId) });
  const origin = { sessionId: session?.id ?? "" };
  const { id } = await makeKeyIn(workspaceId, origin);
  await fixture.sql`
    insert into api_keys (id, hash, prefix, name, scopes, makers)
    select gen_random_uuid(), sha256((n || ${id})::bytea), 'pr', 'made', '{posts:read}', array[${origin.sessionId}::uuid]
    from generate_series(1, 99) as n`;
  for (const each of [origin, { keyId: id }])
    await expect(makeKeyIn(workspaceId, each)).rejects.toMatchObject({
      violations: [{ code: "too_many_keys", limit: 100, actual: 101 }],
    });
});

test("an API key can be revoked however many keys it has made that have expired, and those that work end with it", async () => {
  const { workspaceId, keyId } = await createTenant(fixture.app);
  const child = await makeKey(workspaceId, keyId);
  await fixture.sql`
    with made as (
      insert into api_keys (id, hash, prefix, name, scopes, makers, expires_at)
      select gen_random_uuid(), sha256((n || ${keyId})::bytea), 'pr', 'expired', '{posts:read}',
        array[${keyId}::uuid], now()
      from generate_series(1, 2000) as n
      returning id
    )
    insert into api_key_workspaces (api_key_id, workspace_id)
    select id, ${workspaceId}
    from made`;
  const { madeKeys } = await fixture.app.apiKeys.revokeApiKey({ id: keyId });
  expect(madeKeys.map(({ id }) => id)).toEqual([child.id]);
});

test("a key that is made while one of its makers is revoked does not outlive it", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { workspaceId, keyId } = await createTenant(fixture.app);
    const child = await makeKey(workspaceId, keyId);
    await Promise.allSettled([
      makeKey(workspaceId, child.id),
      fixture.app.apiKeys.revokeApiKey({ id: keyId }),
      makeKey(workspaceId, child.id),
      makeKey(workspaceId, keyId),
    ]);
    const { apiKeys } = await fixture.app.apiKeys.listApiKeys({ workspaceId });
    expect(apiKeys).toEqual([]);
  }
});

/** Waits until as many statements wait for a lock. */
async function lockWaits(expected: number): Promise<void> {
  await eventually(async () => {
    const { count } = await fixture.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return count === expected;
  });
}

test("revoking a key and making one in its session wait for each other in one direction only", async () => {
  const { workspaceId, key, keyId } = await createTenant(fixture.app);
  const sessionId = (await openWith({ key })).session?.id;
  const { both } = await fixture.sql.begin(async (tx) => {
    await tx`select from api_keys where id = ${keyId} for update`;
    const revoked = fixture.app.apiKeys.revokeApiKey({ id: keyId });
    await lockWaits(1);
    const made = makeKeyIn(workspaceId, { keyId, sessionId });
    await lockWaits(2);
    return { both: Promise.allSettled([revoked, made]) };
  });
  expect(await both).toMatchObject([
    { status: "fulfilled" },
    { status: "rejected", reason: { kind: "unauthenticated" } },
  ]);
});

test("revoking sessions with their keys and making a key in one wait for each other in one direction only", async () => {
  const { workspaceId } = await createTenant(fixture.app);
  const { session } = await openWith({ link: await issueLink(workspaceId) });
  const child = await makeKeyIn(workspaceId, { sessionId: session?.id });
  const sessionId = (await openWith({ key: child.key })).session?.id ?? "";
  const { both } = await fixture.sql.begin(async (tx) => {
    await tx`select from dashboard_sessions where id = ${sessionId} for update`;
    const revoked = fixture.app.dashboard.revokeDashboardSessions({ workspaceId, endsKeys: true });
    await lockWaits(1);
    const made = makeKeyIn(workspaceId, { keyId: child.id, sessionId });
    await lockWaits(2);
    return { both: Promise.allSettled([revoked, made]) };
  });
  expect(await both).toMatchObject([
    { status: "fulfilled" },
    { status: "rejected", reason: { kind: "unauthenticated" } },
  ]);
});

test("a key that is made while its session is revoked with its keys does not outlive it", async () => {
  for (let round = 0; round < 10; round += 1) {
    const workspaceId = await fixture.createWorkspace();
    const { session } = await openWith({ link: await issueLink(workspaceId) });
    const origin = { sessionId: session?.id };
    const child = await makeKeyIn(workspaceId, origin);
    const [, revoked] = await Promise.allSettled([
      makeKeyIn(workspaceId, origin),
      fixture.app.dashboard.revokeDashboardSessions({ workspaceId, endsKeys: true }),
      makeKey(workspaceId, child.id),
      makeKeyIn(workspaceId, origin),
    ]);
    expect(revoked.status).toBe("fulfilled");
    const { apiKeys } = await fixture.app.apiKeys.listApiKeys({ workspaceId });
    expect(apiKeys).toEqual([]);
  }
});

test("taking an API key off one of its workspaces ends the keys that it made there, and no others", async () => {
  const [one, other] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  const { key, apiKey } = await fixture.app.apiKeys.createApiKey({
    name: "Two",
    workspaceIds: [one, other],
    scopes: ["all"],
  });
  const id = apiKey?.id ?? "";
  const [there, elsewhere] = [await makeKey(one, id), await makeKey(other, id)];
  const { madeKeys } = await fixture.app.apiKeys.revokeApiKey({ id, workspaceId: one });
  expect(madeKeys.map((each) => each.id)).toEqual([there.id]);
  expect(await Promise.all([there.key, elsewhere.key, key].map(isAdmitted))).toEqual([
    false,
    true,
    true,
  ]);
});

test("revoking an API key for one of its workspaces ends its sessions there, and it stays valid for the others", async () => {
  const [one, other] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  const { key, apiKey } = await fixture.app.apiKeys.createApiKey({
    name: "Two",
    workspaceIds: [one, other],
    scopes: ["all"],
  });
  const id = apiKey?.id ?? "";
  const sessions = [
    await openWith({ key }, { workspaceId: one }),
    await openWith({ key }, { workspaceId: other }),
  ];
  await expect(
    fixture.app.apiKeys.revokeApiKey({ id, workspaceId: newId() }),
  ).rejects.toMatchObject({ reason: "not_found" });
  await fixture.app.apiKeys.revokeApiKey({ id, workspaceId: one });
  const admitted = await Promise.all(sessions.map(({ token }) => admit(token)));
  expect(admitted.map(({ session }) => session?.workspaceIds)).toEqual([undefined, [other]]);
  expect((await admit(key, { session: false })).session?.workspaceIds).toEqual([other]);
  await fixture.app.apiKeys.revokeApiKey({ id, workspaceId: other });
  expect((await admit(key, { session: false })).session).toBeUndefined();
});

test("while the deletion of a workspace waits, its sessions, links and keys open nothing, and they do again after it was cancelled", async () => {
  const { workspaceId, key } = await createTenant(fixture.app);
  const { token } = await openWith({ key });
  const link = await issueLink(workspaceId);
  const { workspaces } = fixture.app;
  await workspaces.deleteWorkspace({ id: workspaceId, graceSeconds: 3_600n });
  expect((await admit(token)).session).toBeUndefined();
  expect(await openWith({ link })).toMatchObject({ outcome: "refused" });
  expect(await openWith({ key })).toMatchObject({ outcome: "refused" });
  await expect(issueLink(workspaceId)).rejects.toMatchObject({ reason: "not_found" });
  await workspaces.cancelWorkspaceDeletion({ id: workspaceId });
  expect((await admit(token)).session).toBeDefined();
  expect(await openWith({ link })).toMatchObject({ outcome: "opened" });
});

test.each([
  ["its last day has passed", "expires_at = now()"],
  ["it was not used for a week", "last_seen_at = now() - interval '7 days'"],
])("a session has ended when %s, and the job deletes its row", async (_, change) => {
  const { workspaceId, key } = await createTenant(fixture.app);
  const { token, session } = await openWith({ key });
  const id = session?.id ?? "";
  await fixture.sql.unsafe(`update dashboard_sessions set ${change} where id = '${id}'`);
  expect((await admit(token)).session).toBeUndefined();
  const { sessions } = await fixture.app.dashboard.listDashboardSessions({ workspaceId });
  expect(sessions).toEqual([]);
  await expect(
    fixture.app.dashboard.getDashboardSession({ workspaceId, id }),
  ).rejects.toMatchObject({ reason: "not_found" });
  expect(await deleteEndedSessions(fixture.sql, { idleMs: 7 * DAY_MS }, 1000)).toBe(1);
  expect(await fixture.sql`select 1 from dashboard_sessions where id = ${id}`).toHaveLength(0);
});

test("the gateway is told when a session ends: after its last day, or after a week without use", async () => {
  const { key } = await createTenant(fixture.app);
  const { token, session } = await openWith({ key });
  const endOf = async () => {
    const { expiresAt } = (await admit(token)).session ?? {};
    return expiresAt === undefined ? 0 : timestampDate(expiresAt).getTime();
  };
  expect(await endOf()).toBeCloseTo(Date.now() + 7 * DAY_MS, -5);
  await fixture.sql`update dashboard_sessions set expires_at = now() + interval '1 hour' where id = ${session?.id ?? ""}`;
  expect(await endOf()).toBeCloseTo(Date.now() + 3_600_000, -5);
});

test("the time at which a session was last seen is written at most once a minute, and the key's is left alone", async () => {
  const { key, workspaceId, keyId } = await createTenant(fixture.app);
  const { token, session } = await openWith({ key });
  const seenAt = async () => {
    const { sessions } = await fixture.app.dashboard.listDashboardSessions({ workspaceId });
    return sessions[0]?.lastSeenAt && timestampDate(sessions[0].lastSeenAt).getTime();
  };
  const first = await seenAt();
  await admit(token);
  expect(await seenAt()).toBe(first);
  await fixture.sql`update dashboard_sessions set last_seen_at = now() - interval '61 s' where id = ${session?.id ?? ""}`;
  await admit(token);
  await eventually(async () => expect(await seenAt()).toBeGreaterThan(Date.now() - 30_000));
  const { apiKeys } = await fixture.app.apiKeys.listApiKeys({ workspaceId });
  expect(apiKeys).toMatchObject([{ id: keyId, sessionCount: 1 }]);
  expect(apiKeys[0]?.lastUsedAt).toBeUndefined();
});

test("a session is revoked alone or with all of its workspace, and not from another workspace", async () => {
  const { workspaceId, key } = await createTenant(fixture.app);
  const foreign = await createTenant(fixture.app);
  const sessions = [await openWith({ key }), await openWith({ key }), await openWith({ key })];
  const id = sessions[0]?.session?.id ?? "";
  const revoke = (request: { workspaceId: string; id?: string }) =>
    fixture.app.dashboard.revokeDashboardSessions(request);
  for (const request of [
    { workspaceId: foreign.workspaceId, id },
    { workspaceId: newId() },
    { workspaceId, id: "x" },
  ])
    await expect(revoke(request)).rejects.toMatchObject({ reason: "not_found" });
  expect(await revoke({ workspaceId, id })).toMatchObject({ count: 1 });
  await expect(revoke({ workspaceId, id })).rejects.toMatchObject({ reason: "not_found" });
  expect(await revoke({ workspaceId })).toMatchObject({ count: 2 });
  expect(await revoke({ workspaceId })).toMatchObject({ count: 0 });
  for (const { token } of sessions) expect((await admit(token)).session).toBeUndefined();
});

test("an API key has at most 20 sessions: with one more, its own oldest one ends, with an audit entry", async () => {
  const { workspaceId, key, keyId } = await createTenant(fixture.app);
  const byLink = await openWith({ link: await issueLink(workspaceId) });
  const opened = [];
  for (let n = 0; n < 21; n += 1) opened.push(await openWith({ key }));
  const open = await Promise.all(opened.map(async ({ token }) => (await admit(token)).session));
  expect(open.map((session) => session !== undefined)).toEqual([
    false,
    ...Array.from({ length: 20 }, () => true),
  ]);
  expect((await admit(byLink.token)).session).toBeDefined();
  const entries = await readAuditLog(fixture.sql);
  expect(entries.at(-1)).toMatchObject({
    action: "session.revoke",
    workspaceId,
    subject: ["session", opened[0]?.session?.id],
    actor: ["key", keyId, null],
    details: { madeRoomFor: opened[20]?.session?.id },
  });
});

test("a workspace has at most 200 sessions: with one more, the oldest one of the key with the most ends", async () => {
  const { workspaceId, key, keyId } = await createTenant(fixture.app);
  const byLink = await openWith({ link: await issueLink(workspaceId) });
  const alone = await openWith({ key });
  const insertMany = (ofKey: string | null, count: number) => fixture.sql`
    insert into dashboard_sessions (id, hash, workspace_id, api_key_id, scopes, user_agent, expires_at)
    select uuidv7(), sha256(gen_random_uuid()::text::bytea), ${workspaceId}, ${ofKey},
      ${ofKey === null ? [] : null}::text[], '', now() + interval '1 day'
    from generate_series(1, ${count}) n`;
  const request = { name: "Many", workspaceIds: [workspaceId], scopes: ["posts:read"] };
  const many = (await fixture.app.apiKeys.createApiKey(request)).apiKey?.id ?? "";
  await insertMany(many, 12);
  await insertMany(null, 186);
  await openWith({ key });
  const { sessions } = await fixture.app.dashboard.listDashboardSessions({ workspaceId });
  expect(sessions).toHaveLength(200);
  const ofKey = (id: string) => sessions.filter((session) => session.key?.id === id).length;
  expect([ofKey(many), ofKey(keyId)]).toEqual([11, 2]);
  for (const { token } of [byLink, alone]) expect((await admit(token)).session).toBeDefined();
});

test("issuing a link, opening and revoking a session leave an audit entry each, with the actor that the caller proved, and no secret", async () => {
  const { workspaceId, key, keyId } = await createTenant(fixture.app);
  const { length } = await readAuditLog(fixture.sql);
  const link = await issueLink(workspaceId);
  const byLink = await openWith({ link });
  const byKey = await openWith({ key });
  const id = byLink.session?.id ?? "";
  const context = {
    requestId: "r",
    caller: "gateway",
    createdVia: "dashboard",
    origin: { sessionId: id },
  };
  const { dashboard } = fixture.app;
  await runInContext(context, () => dashboard.revokeDashboardSessions({ workspaceId, id }));
  const entries = (await readAuditLog(fixture.sql)).slice(length);
  expect(entries.map(({ action, actor }) => [action, ...actor.slice(0, 2)])).toEqual([
    ["dashboard_link.issue", "service", expect.any(String)],
    ["session.open", "session", id],
    ["session.open", "key", keyId],
    ["session.revoke", "session", id],
  ]);
  for (const secret of [link, byLink.token, byKey.token, key])
    expect(JSON.stringify(entries)).not.toContain(secret);
});
