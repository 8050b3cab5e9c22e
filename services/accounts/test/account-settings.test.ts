import { newId } from "@postrider/shared/ids";
import { asClient, BY_CLIENT, readAuditLog, runAudited } from "@postrider/shared/testing/audit";
import { expect, test } from "vitest";
import type { AccountsApp } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

type Json = Record<string, unknown>;

async function get(ref: AccountRef, app: AccountsApp = fixture.app) {
  const { settings } = await app.settings.getAccountSettings({ ref });
  const available = settings?.available ?? "";
  return {
    settings: JSON.parse(settings?.settings ?? "") as Json,
    available: available === "" ? null : (JSON.parse(available) as Json),
  };
}

async function update(ref: AccountRef, patch: unknown, app: AccountsApp = fixture.app) {
  const request = { ref, patch: JSON.stringify(patch) };
  const { settings } = await app.settings.updateAccountSettings(request);
  return JSON.parse(settings?.settings ?? "") as Json;
}

const refusal = (...violations: object[]) => ({ reason: "invalid_request", violations });

test("an account has the defaults until settings are changed, and a setting that is null has its default again", async () => {
  const ref = await fixture.connect("telegram");
  const defaults = { format: "plain", silent: false, linkPreview: true };
  expect((await get(ref)).settings).toEqual(defaults);
  expect(await update(ref, { format: "html", silent: true })).toEqual({
    ...defaults,
    format: "html",
    silent: true,
  });
  expect(await update(ref, { silent: null })).toEqual({ ...defaults, format: "html" });
  expect((await get(ref)).settings).toEqual({ ...defaults, format: "html" });
});

test("concurrent changes of different settings of an account through two replicas all take effect", async () => {
  const ref = await fixture.connect("tiktok");
  await using replica = fixture.createReplica();
  const patches = [
    { allowComment: true },
    { allowDuet: true },
    { autoAddMusic: true },
    { disclosure: "own_brand" },
    { unlistedAs: "friends" },
  ];
  await Promise.all(
    patches.map((patch, index) => update(ref, patch, index % 2 === 0 ? fixture.app : replica)),
  );
  expect((await get(ref)).settings).toEqual(Object.assign({ allowStitch: false }, ...patches));
});

test("a change of account settings with an unknown setting or wrong value is refused with the paths of these settings, and changes nothing", async () => {
  const ref = await fixture.connect("x");
  await expect(update(ref, { replySettings: "nobody", allowDuet: true })).rejects.toMatchObject(
    refusal(
      {
        code: "not_allowed",
        path: "/replySettings",
        allowed: ["everyone", "following", "mentioned"],
      },
      { code: "additional_property", path: "/allowDuet", allowed: ["replySettings"] },
    ),
  );
  for (const patch of [{}, [], null, "everyone", 1])
    await expect(update(ref, patch)).rejects.toMatchObject({ reason: "invalid_request" });
  await expect(
    fixture.app.settings.updateAccountSettings({ ref, patch: "{" }),
  ).rejects.toMatchObject({ reason: "invalid_request" });
  expect((await get(ref)).settings).toEqual({ replySettings: "everyone" });
});

test("the settings of an account of another workspace and of an unknown, malformed or disconnected account are not found", async () => {
  const workspaceId = await fixture.createWorkspace();
  const theirs = await fixture.connect("x", undefined, workspaceId);
  const gone = await fixture.connect("x");
  await fixture.app.accounts.disconnectAccount({ ref: gone });
  const { workspaceId: mine } = fixture;
  const refs = [
    { ...theirs, workspaceId: mine },
    { workspaceId: mine, accountId: newId() },
    { workspaceId: mine, accountId: "account" },
    gone,
  ];
  for (const ref of refs) {
    await expect(get(ref)).rejects.toMatchObject({ reason: "not_found" });
    await expect(update(ref, { replySettings: "mentioned" })).rejects.toMatchObject({
      reason: "not_found",
    });
  }
  expect((await get(theirs)).settings).toEqual({ replySettings: "everyone" });
});

test("an account keeps its settings when it is disconnected and connected again", async () => {
  const ref = await fixture.connect("bluesky", "keeps");
  await update(ref, { languages: ["de"] });
  await fixture.app.accounts.disconnectAccount({ ref });
  expect(await fixture.connect("bluesky", "keeps")).toEqual(ref);
  expect((await get(ref)).settings).toEqual({ languages: ["de"] });
});

test("ListAccounts, BatchGetAccounts and BatchGetPostingAccounts return the settings that the workspace chose, and none for the defaults", async () => {
  const chosen = await fixture.connect("instagram");
  const other = await fixture.connect("instagram");
  await update(chosen, { imageFit: "crop" });
  const { workspaceId } = fixture;
  const { accounts } = await fixture.app.accounts.listAccounts({ workspaceId });
  const refs = [chosen, other];
  const batch = await fixture.app.accounts.batchGetAccounts({ refs });
  for (const list of [accounts, batch.accounts]) {
    const byId = new Map(list.map(({ id, settings }) => [id, settings]));
    expect(JSON.parse(byId.get(chosen.accountId) ?? "")).toEqual({ imageFit: "crop" });
    expect(byId.get(other.accountId)).toBe("");
  }
  expect(await fixture.listPostingAccounts(refs)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: chosen.accountId, settings: { imageFit: "crop" } }),
      expect.objectContaining({ id: other.accountId, settings: null }),
    ]),
  );
});

test("a change of account settings leaves one audit entry with the changed settings, and a repeated change leaves none", async () => {
  const { accountId, workspaceId } = await fixture.connect("telegram");
  const change = () => update({ accountId, workspaceId }, { silent: true, format: "plain" });
  const audited = await runAudited(fixture.database, ["account_settings"], () => asClient(change));
  expect(audited).toEqual([
    {
      action: "account.update_settings",
      workspaceId,
      subject: ["account", accountId],
      details: { platform: "telegram", before: { silent: false }, after: { silent: true } },
      ...BY_CLIENT,
    },
  ]);
  const { length } = await readAuditLog(fixture.sql);
  await change();
  expect(await readAuditLog(fixture.sql)).toHaveLength(length);
});

test("the settings of a TikTok account show the options that TikTok offers it now, and TikTok is asked at most once in 15 seconds", async () => {
  const ref = await fixture.connect("tiktok");
  expect((await get(ref)).available).toEqual({
    audiences: ["public", "friends", "only_me"],
    allowComment: true,
    allowDuet: true,
    allowStitch: false,
    maxVideoSeconds: 600,
  });
  const calls = await fixture.control.countCalls("tiktok", "account");
  await get(ref);
  await update(ref, { allowDuet: true });
  expect(await fixture.control.countCalls("tiktok", "account")).toBe(calls);
  expect((await get(await fixture.connect("x"))).available).toBeNull();
});

test("the settings of an account are readable while its platform fails or the account needs a reconnect", async () => {
  const failing = await fixture.connect("tiktok");
  const refused = await fixture.connect("tiktok");
  await fixture.control.fault({
    platform: "tiktok",
    operation: "account",
    mode: "status",
    status: 503,
    times: 9,
  });
  const read = await get(failing);
  expect(read).toMatchObject({ settings: { allowDuet: false }, available: null });
  await fixture.app.accounts.requireReconnect({ ref: refused, credentialVersion: 1n });
  expect(await get(refused)).toMatchObject({ settings: { allowDuet: false }, available: null });
});

test("a change of a TikTok account's settings to values that TikTok does not offer it now is refused and changes nothing", async () => {
  const ref = await fixture.connect("tiktok");
  const patch = { unlistedAs: "followers", allowStitch: true, allowDuet: true };
  await expect(update(ref, patch)).rejects.toMatchObject(
    refusal(
      { code: "not_allowed", path: "/unlistedAs", allowed: ["friends", "only_me"] },
      { code: "not_allowed", path: "/allowStitch", allowed: ["false"] },
    ),
  );
  expect((await get(ref)).settings).toMatchObject({ unlistedAs: "only_me", allowDuet: false });
  expect(await update(ref, { unlistedAs: "friends", allowStitch: null })).toMatchObject({
    unlistedAs: "friends",
  });
  const silent = await fixture.connect("tiktok");
  await fixture.control.fault({
    platform: "tiktok",
    operation: "account",
    mode: "status",
    status: 503,
    times: 9,
  });
  expect(await update(silent, { unlistedAs: "followers" })).toMatchObject({
    unlistedAs: "followers",
  });
});

test("BatchGetAccounts and BatchGetPostingAccounts return what TikTok last offered an account, without asking TikTok, until it is a day old or the account is connected again", async () => {
  const ref = await fixture.connect("tiktok", "remembered");
  const known = async () => {
    const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [ref] });
    const [posting] = await fixture.listPostingAccounts([ref]);
    const text = accounts[0]?.available ?? "";
    expect(posting?.available).toEqual(text === "" ? null : JSON.parse(text));
    return text;
  };
  expect(await known()).toBe("");
  const { available } = await get(ref);
  const calls = await fixture.control.countCalls("tiktok", "account");
  expect(JSON.parse(await known())).toEqual(available);
  expect(await fixture.control.countCalls("tiktok", "account")).toBe(calls);
  await fixture.sql`
    update accounts
    set available_at = now() - interval '24 hours 1 second'
    where id = ${ref.accountId}`;
  expect(await known()).toBe("");
  await fixture.sql`
    update accounts
    set available_at = now()
    where id = ${ref.accountId}`;
  expect(await known()).not.toBe("");
  expect(await fixture.connect("tiktok", "remembered")).toEqual(ref);
  expect(await known()).toBe("");
});
