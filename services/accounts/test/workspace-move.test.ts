import { createHash, createSecretKey, randomBytes } from "node:crypto";
import { WorkspaceImportService } from "@postrider/contracts/accounts/v1/workspace_import_service_pb";
import { WorkspaceMoveService } from "@postrider/contracts/accounts/v1/workspace_move_service_pb";
import { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { newId } from "@postrider/shared/ids";
import { hashApiKey } from "@postrider/shared/secrets/api-keys";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { createTestPeer } from "@postrider/shared/testing/router";
import { exportRows, openImport } from "@postrider/shared/testing/workspace-import";
import { expect, test } from "vitest";
import { claimRefresh } from "#src/db/credential-refreshes.ts";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { removalOptions } from "#src/jobs/remove-workspaces.ts";
import { IMPORT_RULES, createRoutes } from "#src/rpc/routes.ts";
import { type AccountsApp, createApp, createDatabase, DEPLOYMENT } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();
const MANIFEST = "a".repeat(64);

function clientsOf({ deps }: AccountsApp) {
  const peer = createTestPeer(createRoutes(deps));
  return {
    moves: peer.client(WorkspaceMoveService),
    secrets: peer.client(SecretTransferService),
    exports: peer.client(WorkspaceExportService),
    imports: peer.client(WorkspaceImportService),
  };
}

async function admit({ admission }: AccountsApp, key: string) {
  const queries = [{ keyHash: hashApiKey(key), want: 1, cell: "eu1" }];
  const { answers, workspaces, knownCells } = await admission.admit({ queries });
  return { isKnown: answers[0]?.key !== undefined, grant: workspaces[0], knownCells };
}

/** A workspace of the cell eu1 with a key and a connected account, and the empty cell us1. */
async function open() {
  const source = fixture.createReplica({ cell: "eu1" });
  const { workspaceId, accountId } = await fixture.connect("x");
  const wanted = { name: "K", workspaceIds: [workspaceId], scopes: ["posts:read"] };
  const { key, apiKey } = await source.apiKeys.createApiKey(wanted);
  const database = await createDatabase();
  const keys = [{ id: "k2", secret: createSecretKey(randomBytes(32)) }];
  const target = createApp(database, { cell: "us1", keys, simulatorUrl: fixture.simulatorUrl });
  const [from, to] = [clientsOf(source), clientsOf(target)];
  const freeze = () => from.moves.freezeWorkspace({ id: workspaceId, cell: "us1" });
  return {
    source,
    target,
    from,
    to,
    workspaceId,
    accountId,
    key,
    keyId: apiKey?.id ?? "",
    freeze,
    /** Returns the hash of the handover secret. */
    importHeld: async () => {
      const { workspace } = await freeze();
      const handoverHash = workspace?.move?.handoverHash ?? new Uint8Array();
      const rows = await exportRows(fixture.sql, EXPORTED_TABLES, workspaceId);
      const row = rows.workspaces?.[0] ?? "";
      const begin = { workspaceId, row, manifestSha256: MANIFEST, handoverHash, cell: "us1" };
      await to.imports.beginWorkspaceImport(begin);
      const given = { sql: database.sql, tables: EXPORTED_TABLES, rules: IMPORT_RULES };
      await openImport(given).importAll(workspaceId, rows);
      const { publicKey } = await to.secrets.getTransferKey({ workspaceId });
      const { sealed } = await from.secrets.sealSecrets({ workspaceId, publicKey });
      await to.secrets.openSecrets({ workspaceId, sealed });
      return handoverHash;
    },
    credential: (app: AccountsApp) => fixture.credentialOf({ workspaceId, accountId }, app),
    [Symbol.asyncDispose]: async () => {
      await source[Symbol.asyncDispose]();
      await target[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test("a frozen workspace is read, keeps its keys and accounts as they are, renews no token, and works again when the move is cancelled", async () => {
  await using given = await open();
  const { source, from, workspaceId, accountId, key, keyId } = given;
  await given.freeze();
  expect(await admit(source, key)).toMatchObject({ isKnown: true, grant: { isFrozen: true } });
  const { removals } = await source.removals.listWorkspaceRemovals({});
  expect(removals.find((each) => each.workspaceId === workspaceId)).toMatchObject({
    isMoving: true,
    isMoved: false,
    isRemoving: false,
  });
  const wanted = { name: "L", workspaceIds: [workspaceId], scopes: ["all"] };
  await expect(source.apiKeys.createApiKey(wanted)).rejects.toThrow("unavailable");
  await expect(source.apiKeys.revokeApiKey({ id: keyId })).rejects.toThrow("unavailable");
  const simulated = { workspaceId, platform: "bluesky", username: "late", count: 1 };
  await expect(source.accounts.connectSimulatedAccounts(simulated)).rejects.toThrow("unavailable");
  const account = { workspaceId, accountId };
  const refresh = () =>
    claimRefresh(fixture.sql, account, { version: 1, deploymentId: DEPLOYMENT });
  expect(await refresh()).toBeUndefined();

  await from.moves.cancelWorkspaceMove({ id: workspaceId });
  expect(await admit(source, key)).toMatchObject({ grant: { isFrozen: false } });
  expect(await refresh()).toBeDefined();
  expect((await from.exports.listOpenWork({ workspaceId })).openWork).toContain(
    "1 token refreshes",
  );
});

test("a key of several workspaces is revoked although one of them was moved to another cell, but not during the move", async () => {
  await using given = await open();
  const { source, from, workspaceId } = given;
  const workspaceIds = [workspaceId, await fixture.createWorkspace()];
  const wanted = { name: "Leaked", workspaceIds, scopes: ["posts:read"] };
  const { key, apiKey } = await source.apiKeys.createApiKey(wanted);
  const revoke = () => source.apiKeys.revokeApiKey({ id: apiKey?.id ?? "" });
  const handoverHash = await given.importHeld();
  await expect(revoke()).rejects.toThrow("unavailable");
  await from.moves.switchWorkspace({ id: workspaceId, handoverHash, cell: "us1" });
  await revoke();
  expect(await admit(source, key)).toMatchObject({ isKnown: false });
  // A moved workspace gets no new key.
  await expect(source.apiKeys.createApiKey(wanted)).rejects.toThrow("unavailable");
});

test("in the cell to which a workspace was moved, a key still ends with the key that made it", async () => {
  await using given = await open();
  const { source, target, from, to, workspaceId, keyId } = given;
  const context = { requestId: newId(), caller: "gateway" as const, origin: { keyId } };
  const made = await runInContext(context, () =>
    source.apiKeys.createApiKey({ name: "Made", workspaceIds: [workspaceId], scopes: ["all"] }),
  );
  const handoverHash = await given.importHeld();
  const { handover } = await from.moves.switchWorkspace({
    id: workspaceId,
    handoverHash,
    cell: "us1",
  });
  await to.imports.finishWorkspaceImport({ workspaceId, handover });
  expect(await admit(target, made.key)).toMatchObject({ isKnown: true });
  await target.apiKeys.revokeApiKey({ id: keyId });
  expect(await admit(target, made.key)).toMatchObject({ isKnown: false });
});

test("a move waits for a token refresh whose lease ran out before its process stored the new tokens, until the process must have died", async () => {
  await using given = await open();
  const { from, workspaceId, accountId } = given;
  const account = { workspaceId, accountId };
  await claimRefresh(fixture.sql, account, { version: 1, deploymentId: DEPLOYMENT });
  await given.freeze();
  const endedBefore = async (minutes: number) => {
    await fixture.sql`
      update credentials
      set refresh_lease_until = now() - ${minutes} * interval '1 minute'
      where account_id = ${accountId}`;
    return (await from.exports.listOpenWork({ workspaceId })).openWork;
  };
  expect(await endedBefore(9)).toContain("1 token refreshes");
  expect(await endedBefore(11)).not.toContain("1 token refreshes");
});

test("tokens and API keys arrive sealed for the other cell, where the account needs no reconnect and the old key works once the import has ended, and a login with it is sent there", async () => {
  await using given = await open();
  const { source, target, from, to, workspaceId, key } = given;
  const before = await given.credential(source);
  expect(before?.accessToken).not.toBe("");
  const handoverHash = await given.importHeld();
  expect(await admit(target, key)).toMatchObject({ isKnown: true, grant: { isImporting: true } });
  const { handover } = await from.moves.switchWorkspace({
    id: workspaceId,
    handoverHash,
    cell: "us1",
  });
  await to.imports.finishWorkspaceImport({ workspaceId, handover });

  const login = { case: "keyHash" as const, value: hashApiKey(key) };
  const refused = { outcome: "refused", movedTo: "us1" };
  expect(await source.dashboard.openDashboardSession({ login })).toMatchObject(refused);
  const named = { login, workspaceId };
  expect(await source.dashboard.openDashboardSession(named)).toMatchObject(refused);
  const here = { isImporting: false, isFrozen: false, movedTo: "" };
  expect(await admit(target, key)).toMatchObject({ isKnown: true, grant: here });
  expect(await admit(target, `${key}x`)).toMatchObject({ isKnown: false, knownCells: ["eu1"] });
  const after = await given.credential(target);
  expect(after).toMatchObject({ accountStatus: "active", accessToken: before?.accessToken });
  expect(await admit(source, key)).toMatchObject({ isKnown: true, grant: { movedTo: "us1" } });
  expect((await given.credential(source))?.accessToken).toBe("");
});

test("API keys that have expired do not go with a workspace", async () => {
  await using given = await open();
  const { source, target, workspaceId, keyId } = given;
  const wanted = { name: "Short", workspaceIds: [workspaceId], scopes: ["posts:read"] };
  const { apiKey } = await source.apiKeys.createApiKey(wanted);
  await fixture.sql`update api_keys set expires_at = now() where id = ${apiKey?.id ?? ""}`;
  await given.importHeld();
  const { apiKeys } = await target.apiKeys.listApiKeys({ workspaceId });
  expect(apiKeys.map(({ id }) => id)).toEqual([keyId]);
});

test("the import in the other cell does not end before this cell has given the workspace to it, and this cell takes nothing back afterwards", async () => {
  await using given = await open();
  const { from, to, source, workspaceId: id } = given;
  const handoverHash = await given.importHeld();
  const finish = (handover: Uint8Array) =>
    to.imports.finishWorkspaceImport({ workspaceId: id, handover });
  for (const guess of [new Uint8Array(), new Uint8Array(32), handoverHash])
    await expect(finish(guess)).rejects.toThrow("invalid_transition");
  await expect(source.workspaces.deleteWorkspace({ id, graceSeconds: 86_400n })).rejects.toThrow(
    "invalid_transition",
  );
  const { handover } = await from.moves.switchWorkspace({ id, handoverHash, cell: "us1" });
  const hash = createHash("sha256").update(handover).update("us1").digest();
  expect(hash).toEqual(Buffer.from(handoverHash));
  await expect(from.moves.cancelWorkspaceMove({ id })).rejects.toThrow("invalid_transition");
  await expect(given.freeze()).rejects.toThrow("invalid_transition");
  // Withdrawing a deletion does not bring it back either.
  await source.workspaces.deleteWorkspace({ id, graceSeconds: 86_400n });
  await source.workspaces.cancelWorkspaceDeletion({ id });
  expect(await admit(source, given.key)).toMatchObject({ grant: { movedTo: "us1" } });
  expect(await from.moves.switchWorkspace({ id, handoverHash, cell: "us1" })).toMatchObject({
    handover,
  });
  await finish(handover);
});

test("a move to one cell is not switched for another, and its secret ends no import in a third cell", async () => {
  await using given = await open();
  const { from, workspaceId: id } = given;
  const handoverHash = await given.importHeld();
  await using database = await createDatabase();
  await using third = createApp(database, { cell: "ap1" });
  const { imports } = clientsOf(third);
  const rows = await exportRows(fixture.sql, EXPORTED_TABLES, id);
  const begin = { workspaceId: id, row: rows.workspaces?.[0] ?? "", manifestSha256: MANIFEST };
  await imports.beginWorkspaceImport({ ...begin, handoverHash, cell: "ap1" });
  const switchTo = (cell: string) => from.moves.switchWorkspace({ id, handoverHash, cell });
  await expect(switchTo("ap1")).rejects.toThrow("invalid_transition");
  const { handover } = await switchTo("us1");
  await expect(switchTo("ap1")).rejects.toThrow("invalid_transition");
  const finish = imports.finishWorkspaceImport({ workspaceId: id, handover });
  await expect(finish).rejects.toThrow("invalid_transition");
});

test("a cell that has given a workspace up, also without a copy, removes it later without revoking a token", async () => {
  await using given = await open();
  const { source, from, workspaceId: id } = given;
  const { workspace } = await given.freeze();
  const handoverHash = workspace?.move?.handoverHash ?? new Uint8Array();
  await from.moves.switchWorkspace({ id, handoverHash, cell: "us1" });
  await source.workspaces.deleteWorkspace({ id, graceSeconds: 0n, name: "Test" });
  await removalOptions(source.deps).prepare?.({ workspaceId: id } as never);
  expect(await fixture.control.countCalls("x", "revoke")).toBe(0);
});

test("both cells record the same fingerprint of the key for which the secrets were encrypted", async () => {
  await using given = await open();
  await given.importHeld();
  const lines = await Promise.all(
    [fixture.sql, given.target.deps.sql].map(
      (sql) => sql`
        select details
        from audit_log
        where workspace_id = ${given.workspaceId}
        and action in ('workspace.seal_secrets', 'workspace.open_secrets')`,
    ),
  );
  const details = { publicKeySha256: expect.stringMatching(/^[\da-f]{64}$/) };
  expect(lines).toEqual([[{ details }], [{ details }]]);
  expect(lines[0]).toEqual(lines[1]);
});

test("a move that was cancelled and begun again is not switched for the import of the first one", async () => {
  await using given = await open();
  const { from, workspaceId: id } = given;
  const handoverHash = await given.importHeld();
  await from.moves.cancelWorkspaceMove({ id });
  const stale = () => from.moves.switchWorkspace({ id, handoverHash, cell: "us1" });
  await expect(stale()).rejects.toThrow("invalid_transition");
  await given.freeze();
  await expect(stale()).rejects.toThrow("invalid_transition");
});

test("the other cell renews no token before its import has ended", async () => {
  await using given = await open();
  const { from, to, target, workspaceId, accountId } = given;
  const handoverHash = await given.importHeld();
  const account = { workspaceId, accountId };
  const refresh = () =>
    claimRefresh(target.deps.sql, account, { version: 1, deploymentId: DEPLOYMENT });
  expect(await refresh()).toBeUndefined();
  const moved = { id: workspaceId, handoverHash, cell: "us1" };
  const { handover } = await from.moves.switchWorkspace(moved);
  await to.imports.finishWorkspaceImport({ workspaceId, handover });
  expect(await refresh()).toBeDefined();
});

test("an import that a cancelled move has left is removed, and the tokens that the old cell goes on using are not revoked", async () => {
  await using given = await open();
  const { source, target, from, workspaceId: id } = given;
  await given.importHeld();
  await from.moves.cancelWorkspaceMove({ id });
  await target.workspaces.deleteWorkspace({ id, graceSeconds: 0n, name: "Test" });
  await removalOptions(target.deps).prepare?.({ workspaceId: id } as never);
  expect(await given.credential(target)).toMatchObject({ accessToken: "" });
  expect(await fixture.control.countCalls("x", "revoke")).toBe(0);
  expect((await given.credential(source))?.accessToken).not.toBe("");
});

test("secrets leave only a frozen workspace, and go only into an import of the same workspace", async () => {
  await using given = await open();
  const { from, to, workspaceId } = given;
  const publicKey = randomBytes(32);
  const seal = () => from.secrets.sealSecrets({ workspaceId, publicKey });
  await expect(seal()).rejects.toThrow("invalid_transition");
  await expect(to.secrets.getTransferKey({ workspaceId })).rejects.toThrow("invalid_transition");
  const handoverHash = await given.importHeld();
  const { sealed } = await seal();
  const store = to.secrets.openSecrets({ workspaceId, sealed });
  await expect(store).rejects.toThrow("invalid_request");
  await from.moves.switchWorkspace({ id: workspaceId, handoverHash, cell: "us1" });
  await expect(seal()).rejects.toThrow("invalid_transition");
});

test.each(["eu1", "ap1"])("a workspace of the cell eu1 is not moved to %s", async (cell) => {
  await using given = await open();
  const move = given.from.moves.freezeWorkspace({ id: given.workspaceId, cell });
  await expect(move).rejects.toThrow("invalid_request");
});
