import { randomBytes } from "node:crypto";
import { newId } from "@postrider/shared/ids";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import {
  asClient,
  asOperator,
  BY_CLIENT,
  BY_OPERATOR,
  readAuditLog,
  runAudited,
} from "@postrider/shared/testing/audit";
import { expect, test } from "vitest";
import { createTenant } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const ID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const NO_REQUEST = { requestId: null, sourceAddress: null };

const fixture = setUpAccounts();

/**
 * Runs a change by an operator, first with injected faults and then without. Returns the audit
 * entries that it leaves.
 */
async function runAsOperator(tables: readonly string[], change: () => Promise<unknown>) {
  return await runAudited(fixture.database, tables, () => asOperator(change));
}

test("creating a workspace leaves one audit entry, and neither the workspace nor the entry is stored without the other", async () => {
  const create = () => fixture.app.workspaces.createWorkspace({ name: "Acme", verified: true });
  expect(await runAsOperator(["workspaces"], create)).toEqual([
    {
      action: "workspace.create",
      workspaceId: ID,
      subject: ["workspace", ID],
      details: { name: "Acme", verified: true },
      ...BY_OPERATOR,
    },
  ]);
});

test("verifying a workspace leaves one audit entry, and verifying it again leaves none", async () => {
  const { workspaceId } = fixture;
  const verify = () => fixture.app.workspaces.verifyWorkspace({ id: workspaceId });
  const subject = ["workspace", workspaceId];
  expect(await runAsOperator(["workspaces"], verify)).toEqual([
    { action: "workspace.verify", workspaceId, subject, details: {}, ...BY_OPERATOR },
  ]);
  const { length } = await readAuditLog(fixture.sql);
  await verify();
  expect(await readAuditLog(fixture.sql)).toHaveLength(length);
});

test("a change of a workspace's limits leaves one audit entry with the limits before and after", async () => {
  const { workspaceId } = fixture;
  const limits = { requestsPerMinute: 60, dailyQuota: 0 };
  const set = () => fixture.app.workspaces.setWorkspaceLimits({ id: workspaceId, limits });
  expect(await runAsOperator(["workspaces"], set)).toEqual([
    {
      action: "workspace.set_limits",
      workspaceId,
      subject: ["workspace", workspaceId],
      details: {
        before: { requestsPerMinute: null, monthlyQuota: null, dailyQuota: null },
        after: { requestsPerMinute: 60, monthlyQuota: null, dailyQuota: 0 },
      },
      ...BY_OPERATOR,
    },
  ]);
});

test("creating and revoking an API key leave one audit entry for each of its workspaces, and never the key itself", async () => {
  const workspaceIds = [fixture.workspaceId, await fixture.createWorkspace()].toSorted();
  const keys: string[] = [];
  const create = async () => {
    const request = { name: "CI", workspaceIds, scopes: ["posts:write"] };
    const { key, apiKey } = await fixture.app.apiKeys.createApiKey(request);
    keys.push(key, apiKey?.id ?? "");
  };
  const tables = ["api_keys", "api_key_workspaces"];
  const created = await runAsOperator(tables, create);
  const [key = "", id = ""] = keys;
  const details = { name: "CI", prefix: key.slice(0, 12), scopes: ["posts:write"], workspaces: 2 };
  const toEntries = (action: string) =>
    workspaceIds.map((workspaceId) => ({
      action,
      workspaceId,
      subject: ["key", id],
      details,
      ...BY_OPERATOR,
    }));
  expect(created).toEqual(toEntries("key.create"));
  expect(JSON.stringify(created)).not.toContain(key);
  const revoke = () => fixture.app.apiKeys.revokeApiKey({ id });
  expect(await runAsOperator(["api_keys"], revoke)).toEqual(toEntries("key.revoke"));
  const { length } = await readAuditLog(fixture.sql);
  await revoke();
  const unknown = fixture.app.apiKeys.revokeApiKey({ id: newId() });
  await expect(unknown).rejects.toMatchObject({ reason: "not_found" });
  expect(await readAuditLog(fixture.sql)).toHaveLength(length);
});

test("the revocation of an API key is in the audit log also for each key that it made, with the key that was named", async () => {
  const { workspaceId } = fixture;
  const create = async (name: string, keyId?: string) => {
    const { apiKey } = await runInContext(
      { requestId: newId(), caller: "gateway", origin: { keyId } },
      () =>
        fixture.app.apiKeys.createApiKey({ name, workspaceIds: [workspaceId], scopes: ["all"] }),
    );
    return apiKey?.id ?? "";
  };
  const maker = await create("Maker");
  const made = await create("Made", maker);
  const revoke = () => fixture.app.apiKeys.revokeApiKey({ id: maker });
  expect(await runAsOperator(["api_keys"], revoke)).toMatchObject([
    { action: "key.revoke", workspaceId, subject: ["key", maker], details: { name: "Maker" } },
    {
      action: "key.revoke",
      workspaceId,
      subject: ["key", made],
      details: { name: "Made", revokedWith: maker },
    },
  ]);
});

test("connecting, disconnecting and reconnecting an account leave one audit entry each", async () => {
  const { workspaceId } = fixture;
  const tables = ["accounts", "credentials", "outbox"];
  const connect = () => fixture.connect("x", "audited");
  const [connected, ...others] = await runAsOperator(tables, connect);
  expect(others).toEqual([]);
  const accountId = String(connected?.subject[1]);
  const entry = { workspaceId, subject: ["account", accountId] };
  expect(connected).toEqual({
    ...entry,
    action: "account.connect",
    details: { platform: "x", before: null, after: "active" },
    ...BY_OPERATOR,
  });
  const ref = { workspaceId, accountId };
  const disconnect = () => asClient(() => fixture.app.accounts.disconnectAccount({ ref }));
  expect(await runAudited(fixture.database, tables, disconnect)).toEqual([
    {
      ...entry,
      action: "account.disconnect",
      details: { platform: "x", before: "active", after: "disconnected" },
      ...BY_CLIENT,
    },
  ]);
  await disconnect();
  const { length } = await readAuditLog(fixture.sql);
  await disconnect();
  expect(await readAuditLog(fixture.sql)).toHaveLength(length);
  expect(await runAsOperator(tables, connect)).toEqual([
    {
      ...entry,
      action: "account.reconnect",
      details: { platform: "x", before: "disconnected", after: "active" },
      ...BY_OPERATOR,
    },
  ]);
});

test("an account whose tokens the platform refused leaves one audit entry, whose actor is the service that noticed the refusal", async () => {
  const ref = await fixture.connect("x");
  const require = () => fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect(
    await runAudited(fixture.database, ["accounts", "credentials", "outbox"], require),
  ).toEqual([
    {
      action: "account.require_reconnect",
      workspaceId: ref.workspaceId,
      subject: ["account", ref.accountId],
      details: { platform: "x", before: "active", after: "reconnect_required" },
      actor: ["service", "accounts", null],
      ...NO_REQUEST,
    },
  ]);
});

test("an account says when its platform refused its access, until it is connected again", async () => {
  const ref = await fixture.connect("x", "refused");
  const read = async () => {
    const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [ref] });
    return accounts[0]?.accessEndedAt;
  };
  expect(await read()).toBeUndefined();
  await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect(await read()).toBeDefined();
  const again = await fixture.connect("x", "refused");
  expect(again.accountId).toBe(ref.accountId);
  expect(await read()).toBeUndefined();
});

const newBrowser = () => randomBytes(32).toString("base64url");

async function issue(platform: string) {
  const { authorizations } = fixture.app;
  const { workspaceId } = fixture;
  const { id, url } = await asOperator(() =>
    authorizations.issueConnectLink({ workspaceId, platform }),
  );
  return { id, linkSecret: url.replace("https://postrider.example/connect/", "") };
}

async function press(authorizeUrl: string, decision: string) {
  const body = new URLSearchParams({ decision, username: "alice" });
  const answer = await fetch(authorizeUrl, { method: "POST", redirect: "manual", body });
  const back = new URL(answer.headers.get("location") ?? "");
  const read = (name: string) => back.searchParams.get(name) ?? "";
  return { state: read("state"), code: read("code"), error: read("error") };
}

test("issuing a connect link leaves one audit entry of the operator, and opening it leaves one of the person with the link", async () => {
  const { workspaceId } = fixture;
  const details = { platform: "x" };
  const [issued, ...others] = await runAudited(fixture.database, ["authorizations"], () =>
    issue("x"),
  );
  expect(others).toEqual([]);
  expect(issued).toEqual({
    action: "authorization.issue",
    workspaceId,
    subject: ["authorization", ID],
    details,
    ...BY_OPERATOR,
  });
  const { id, linkSecret } = await issue("x");
  const open = () =>
    fixture.app.authorizations.openConnectLink({ linkSecret, browser: newBrowser() });
  expect(await runAudited(fixture.database, ["authorizations"], open)).toEqual([
    {
      action: "authorization.open",
      workspaceId,
      subject: ["authorization", id],
      details,
      actor: ["connect_link", id, null],
      ...NO_REQUEST,
    },
  ]);
});

test.each([
  ["approve", "connected"],
  ["deny", "denied"],
])(
  "an authorization that ends with `%s` leaves one audit entry with the outcome %s, and one for each connected account",
  async (decision, outcome) => {
    const { workspaceId } = fixture;
    const { authorizations } = fixture.app;
    const { id, linkSecret } = await issue("x");
    const browser = newBrowser();
    const { authorizeUrl } = await authorizations.openConnectLink({ linkSecret, browser });
    const back = await press(authorizeUrl, decision);
    const { length } = await readAuditLog(fixture.sql);
    const { accounts } = await authorizations.finishAuthorization({ ...back, browser });
    const person = { workspaceId, actor: ["connect_link", id, null], ...NO_REQUEST };
    const connected = accounts.map((account) => ({
      action: "account.connect",
      subject: ["account", account.id],
      details: { platform: "x", before: null, after: "active" },
      ...person,
    }));
    const finished = {
      action: "authorization.finish",
      subject: ["authorization", id],
      details: { platform: "x", outcome },
      ...person,
    };
    expect((await readAuditLog(fixture.sql)).slice(length)).toEqual([...connected, finished]);
  },
);

test("no accounts are connected by an authorization whose audit entry cannot be written", async () => {
  const { authorizations, accounts } = fixture.app;
  const { id, linkSecret } = await issue("x");
  const browser = newBrowser();
  const { authorizeUrl } = await authorizations.openConnectLink({ linkSecret, browser });
  const back = await press(authorizeUrl, "approve");
  await fixture.database.ownerSql`
    alter table accounts.audit_log
    add constraint refused check (action <> 'authorization.finish') not valid`;
  const finish = authorizations.finishAuthorization({ ...back, browser });
  await expect(finish).rejects.toMatchObject({ kind: "internal" });
  await fixture.database.ownerSql`alter table accounts.audit_log drop constraint refused`;
  const listed = await accounts.listAccounts({ workspaceId: fixture.workspaceId });
  expect(listed.accounts).toEqual([]);
  const log = await readAuditLog(fixture.sql);
  const outcomes = log.filter(({ subject }) => subject[1] === id).map(({ action }) => action);
  expect(outcomes).toEqual(["authorization.issue", "authorization.open"]);
});

test("adopting the data of another deployment leaves one audit entry, and adopting it again leaves none", async () => {
  await fixture.sql`update deployment set deployment_id = 'other'`;
  const adopt = () => fixture.app.recovery.adoptData({});
  expect(await runAsOperator(["deployment"], adopt)).toEqual([
    {
      action: "recovery.adopt",
      workspaceId: null,
      subject: ["deployment", "default"],
      details: {},
      ...BY_OPERATOR,
    },
  ]);
  const { length } = await readAuditLog(fixture.sql);
  await adopt();
  expect(await readAuditLog(fixture.sql)).toHaveLength(length);
});

test("the audit log of the accounts service contains no token, no key and no connect link", async () => {
  const { key } = await createTenant(fixture.app);
  await fixture.connectMany("bluesky", 2);
  const { linkSecret } = await issue("youtube");
  const log = JSON.stringify(await fixture.sql`select * from audit_log`);
  const secrets = await fixture.control.secrets();
  expect(secrets.length).toBeGreaterThan(0);
  for (const secret of [...secrets, key, linkSecret]) expect(log).not.toContain(secret);
});
