import { newId } from "@postrider/shared/ids";
import { readAuditLog } from "@postrider/shared/testing/audit";
import { expect, test } from "vitest";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const fixture = setUpAccounts();
const NEW_ID = "-1009000000000001";

async function externalIdOf(ref: AccountRef) {
  return (await fixture.credentialOf(ref))?.externalId ?? "";
}

const move = (ref: AccountRef, fromExternalId: string, toExternalId = NEW_ID, app = fixture.app) =>
  app.accounts.moveAccount({ ref, fromExternalId, toExternalId });

test("an account that moved has its new id and the same token, a repeated move changes nothing, and connecting the new id finds the same account", async () => {
  const ref = await fixture.connect("telegram", "group_moves");
  const before = await fixture.credentialOf(ref);
  const oldId = before?.externalId ?? "";
  await move(ref, oldId);
  const after = await fixture.credentialOf(ref);
  expect(after).toMatchObject({ accountStatus: "active", externalId: NEW_ID });
  expect(after?.accessToken).toBe(before?.accessToken);
  const { length } = await readAuditLog(fixture.sql);
  await move(ref, oldId);
  await move(ref, oldId, "-1009000000000002");
  expect(await externalIdOf(ref)).toBe(NEW_ID);
  const log = await readAuditLog(fixture.sql);
  expect(log).toHaveLength(length);
  expect(log.filter(({ action }) => action === "account.move")).toMatchObject([
    { details: { platform: "telegram", before: oldId, after: NEW_ID } },
  ]);
});

test("two moves of an account at the same time through two replicas leave one id that fits the token", async () => {
  const ref = await fixture.connect("telegram", "group_twice");
  const oldId = await externalIdOf(ref);
  await using replica = fixture.createReplica();
  await Promise.all([move(ref, oldId), move(ref, oldId, NEW_ID, replica)]);
  expect(await fixture.credentialOf(ref)).toMatchObject({
    accountStatus: "active",
    externalId: NEW_ID,
  });
  const log = await readAuditLog(fixture.sql);
  const moves = log.filter(({ subject }) => subject[1] === ref.accountId);
  expect(moves.filter(({ action }) => action === "account.move")).toHaveLength(1);
});

test("an account does not move to an id that its workspace has connected as another account, whether that is disconnected or not", async () => {
  const ref = await fixture.connect("telegram", "group_old");
  const other = await fixture.connect("telegram", "group_new");
  const [oldId, taken] = [await externalIdOf(ref), await externalIdOf(other)];
  await move(ref, oldId, taken);
  expect(await externalIdOf(ref)).toBe(oldId);
  await fixture.app.accounts.disconnectAccount({ ref: other });
  await move(ref, oldId, taken);
  expect(await fixture.credentialOf(ref)).toMatchObject({
    accountStatus: "active",
    externalId: oldId,
  });
});

test("the same chat in two workspaces moves in each of them, and an account of another workspace is not found", async () => {
  const workspaceId = await fixture.createWorkspace();
  const mine = await fixture.connect("telegram", "group_shared");
  const theirs = await fixture.connect("telegram", "group_shared", workspaceId);
  const oldId = await externalIdOf(mine);
  const wrong = { ...theirs, workspaceId: mine.workspaceId };
  await expect(move(wrong, oldId)).rejects.toMatchObject({ reason: "not_found" });
  const unknown = { workspaceId: mine.workspaceId, accountId: newId() };
  await expect(move(unknown, oldId)).rejects.toMatchObject({ reason: "not_found" });
  await move(mine, oldId);
  expect(await externalIdOf(theirs)).toBe(oldId);
  await move(theirs, oldId);
  expect(await externalIdOf(theirs)).toBe(NEW_ID);
});

test("a disconnected account does not move", async () => {
  const ref = await fixture.connect("telegram", "group_gone");
  const oldId = await externalIdOf(ref);
  await fixture.app.accounts.disconnectAccount({ ref });
  await move(ref, oldId);
  expect(await fixture.connect("telegram", "group_gone")).toEqual(ref);
});

test("what a platform offers an account is stored for accounts of the given workspace alone, and only as an object", async () => {
  const ref = await fixture.connect("tiktok", "reported");
  const offered = { audiences: ["only_me"] };
  const record = (to: AccountRef, available: string) =>
    fixture.app.accounts.recordAvailable({ ref: to, available });
  const known = async () => {
    const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [ref] });
    return accounts[0]?.available;
  };
  await record({ ...ref, workspaceId: newId() }, JSON.stringify(offered));
  expect(await known()).toBe("");
  for (const malformed of ["", "[]", "null", "1"])
    await expect(record(ref, malformed)).rejects.toMatchObject({ reason: "invalid_request" });
  await record(ref, JSON.stringify(offered));
  expect(JSON.parse((await known()) ?? "")).toEqual(offered);
});
