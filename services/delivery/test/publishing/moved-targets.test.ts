import { createSecretKey, randomBytes } from "node:crypto";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import { createBlueskyPublishingConnector } from "@postrider/platforms/bluesky/publishing/connector";
import { mp4Media, pngMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createYoutubePublishingConnector } from "@postrider/platforms/youtube/publishing/connector";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { exportRows } from "@postrider/shared/testing/workspace-import";
import { expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { markRestored } from "#src/publishing/db/deployment.ts";
import { createHandleSealing } from "#src/publishing/db/handles.ts";
import { addWorkspaceCopies } from "#src/rpc/workspace-copy-service.ts";
import { addTargetOf } from "./add-target-of.ts";
import { openDatabase, readTask, request, startWorker, untilStatus, World } from "./fixture.ts";

const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.000_01 };

const platforms = {
  bluesky: await startTestPlatform("bluesky"),
  youtube: await startTestPlatform("youtube"),
};
const at = ({ url: baseUrl }: { readonly url: string }) => ({ baseUrl, videoBaseUrl: baseUrl });
const connectors = {
  bluesky: createBlueskyPublishingConnector(at(platforms.bluesky)),
  youtube: createYoutubePublishingConnector(at(platforms.youtube)),
};

function createCell(sql: Sql) {
  const keys: SealingKey[] = [{ id: "k1", secret: createSecretKey(randomBytes(32)) }];
  const peer = createTestPeer((router) => addWorkspaceCopies(router, { sql, sealingKeys: keys }));
  return {
    sql,
    sealing: createHandleSealing(keys),
    rows: peer.client(RowImportService),
    secrets: peer.client(SecretTransferService),
  };
}

type Cell = ReturnType<typeof createCell>;

/** Moves what delivery has of the workspace, or imports its export without the secrets. */
async function bring(workspaceId: string, from: Cell, to: Cell, isMove: boolean): Promise<void> {
  await from.sql`insert into pauses (kind, key) values ('move', ${workspaceId})`;
  const exported = await exportRows(from.sql, EXPORTED_TABLES, workspaceId);
  await to.rows.prepareRowImport({ workspaceId });
  for (const [table, rows] of Object.entries(exported))
    await to.rows.importRows({ workspaceId, table, rows: [...rows] });
  if (isMove) {
    const { publicKey } = await to.secrets.getTransferKey({ workspaceId });
    const { sealed } = await from.secrets.sealSecrets({ workspaceId, publicKey });
    await to.secrets.openSecrets({ workspaceId, sealed });
  }
  await to.rows.releaseRowImport({ workspaceId, isCopy: false });
  await to.sql`delete from pauses`;
}

/** A post that is on the platform, and whose outcome the new cell does not know. */
async function publishWithoutAnswer(
  name: keyof typeof platforms,
  {
    text,
    isMove,
    isRestored = false,
    status = "unknown",
  }: {
    readonly text: string;
    readonly isMove: boolean;
    readonly isRestored?: boolean;
    readonly status?: "unknown" | "queued" | "failed";
  },
) {
  const platform = platforms[name];
  await using source = await openDatabase();
  const target = await openDatabase();
  const world = new World();
  const media = [name === "youtube" ? mp4Media(1000) : pngMedia(1)];
  const publication = await platform.createPublication(media, text);
  const titled = { ...publication, ...(name === "youtube" ? { title: "Once" } : {}) };
  const moved = addTargetOf(world, titled, { platform: name, media });
  await platform.addFault("publish", "drop_after_commit");
  const [from, to] = [createCell(source.sql), createCell(target.sql)];
  const start = (database: typeof source, { sealing }: Cell) =>
    startWorker(database, world, { settings: SHORT, connectors, sealing });
  const old = start(source, from);
  await request(source.sql, moved);
  await eventually(async () => expect(await platform.visible()).toHaveLength(1));
  await old.crash();
  await source.sql`
    update publish_tasks
    set status = 'unknown', open_unknowns = 1, unknown_count = 1, first_unknown_at = called_at,
      is_restored = ${isRestored}`;
  if (status !== "unknown") {
    // The data of a backup from before the call.
    await source.sql`
      update publish_tasks
      set status = ${status}, open_unknowns = 0, unknown_count = 0, first_unknown_at = null, called_at = null,
        call_until = null, handles = null, external_account_id = null, content_hash = null, wake_at = now()`;
    await markRestored(source.sql);
  }
  await bring(moved.workspaceId, from, to, isMove);
  return { platform, target, moved, worker: start(target, to) };
}

test.each([
  ["bluesky", "moves"],
  ["bluesky", "is imported"],
  ["youtube", "moves"],
  ["youtube", "is imported"],
] as const)(
  "a %s post whose outcome is unknown when its workspace %s is found and not published twice",
  async (name, how) => {
    const given = await publishWithoutAnswer(name, { text: "once", isMove: how === "moves" });
    await using target = given.target;
    await using _worker = given.worker;
    await untilStatus(target.sql, given.moved, "published");
    const { externalId } = await readTask(target.sql, given.moved);
    expect(await given.platform.visible()).toMatchObject([{ id: externalId }]);
    const isRestored = how === "is imported";
    expect(await target.sql`select is_restored from publish_tasks`).toEqual([{ isRestored }]);
  },
);

test("a post that a restore of the old cell made uncertain is searched for like after a restore also after a move", async () => {
  const given = await publishWithoutAnswer("youtube", {
    text: "once",
    isMove: true,
    isRestored: true,
  });
  await using target = given.target;
  await using _worker = given.worker;
  await untilStatus(target.sql, given.moved, "published");
  expect(await target.sql`select is_restored from publish_tasks`).toEqual([{ isRestored: true }]);
});

test.each([
  ["queued", "moves"],
  ["queued", "is imported"],
  ["failed", "moves"],
  ["failed", "is imported"],
] as const)(
  "a post that was published after the backup of the old cell, which says that it is %s, is found before it is sent when its workspace %s",
  async (status, how) => {
    const isMove = how === "moves";
    const given = await publishWithoutAnswer("bluesky", { text: "once", isMove, status });
    await using target = given.target;
    await using _worker = given.worker;
    if (status === "failed") {
      given.moved.generation = 2;
      await request(target.sql, given.moved);
    }
    await untilStatus(target.sql, given.moved, "published");
    const { externalId } = await readTask(target.sql, given.moved);
    expect(await given.platform.visible()).toMatchObject([{ id: externalId }]);
  },
);

test("a post without text whose outcome is unknown is recognised by its id after a move", async () => {
  const given = await publishWithoutAnswer("bluesky", { text: "", isMove: true });
  await using target = given.target;
  await using _worker = given.worker;
  await untilStatus(target.sql, given.moved, "published");
});
