import {
  countRowsWith,
  expectRemoved,
  fillTwoWorkspaces,
  removeWorkspace,
} from "@postrider/shared/testing/workspace-removal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mediaRemoval } from "#src/jobs/remove-workspaces.ts";
import { png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, upload, type Grant } from "./upload-client.ts";

let service: TestMedia;
beforeEach(async () => {
  service = await startMedia();
});
afterEach(() => service[Symbol.asyncDispose]());

async function ready(): Promise<Grant> {
  const body = await png();
  const grant = await createGrant(service, body.length);
  await upload(service, grant, body);
  await service.complete(grant);
  return grant;
}

test("the removal of a workspace leaves no row of it in any table of media, and every row of another workspace", async () => {
  const { sql, database } = service;
  // The row of the storage is there already: the triggers of media wrote it.
  const ids = await fillTwoWorkspaces(database, { storage_usage: () => Promise.resolve() });
  await sql`update media set object_key = null, delivery_key = null`;
  await sql`update media_renditions set object_key = 'objects/' || id`;
  const before = await countRowsWith(database.migrationSql, ids.kept);
  expect(Object.keys(before).length).toBeGreaterThan(5);

  await removeWorkspace(sql, ids.removed, mediaRemoval(sql), { steps: 30 });
  expect(await countRowsWith(database.migrationSql, ids.removed)).not.toEqual({});
  await service.removeObjects();
  await removeWorkspace(sql, ids.removed, mediaRemoval(sql));

  await expectRemoved(database.migrationSql, ids, before);
});

test("the removal of a workspace deletes the files of its uploads and media, and those of no other workspace", async () => {
  const [removed, kept] = [await ready(), await ready()];
  const { sql, database } = service;
  const ids = { removed: removed.workspaceId, kept: kept.workspaceId };
  await sql`delete from outbox`;
  const before = await countRowsWith(database.migrationSql, ids.kept);
  expect(await service.listStored()).toHaveLength(2);
  await sql`insert into media_usages (workspace_id, media_id, post_id, post_version) values (${removed.workspaceId}, ${removed.id}, ${removed.id}, 1)`;

  await mediaRemoval(sql).prepare?.({ workspaceId: ids.removed } as never);
  await service.removeObjects();
  await removeWorkspace(sql, ids.removed, mediaRemoval(sql));

  expect(await service.listStored()).toHaveLength(1);
  await expectRemoved(database.migrationSql, ids, before);
});
