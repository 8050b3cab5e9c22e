import { newId } from "@postrider/shared/ids";
import { afterAll, afterEach, expect, test } from "vitest";
import { claimRemovable, listRemovableWorkspaces } from "#src/db/media-leases.ts";
import { RemovalTurn } from "#src/jobs/remove-objects.ts";
import { startMedia } from "./media-fixture.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => service.database.migrationSql`delete from media`);

async function addDeleting(workspaceId: string, count: number): Promise<void> {
  await service.sql`
    insert into media (id, workspace_id, status, kind, content_type, bytes, file_name)
    select gen_random_uuid(), ${workspaceId}, 'deleting', 'image', 'image/png', 1, 'a.png'
    from generate_series(1, ${count})`;
}

async function countOf(workspaceId: string): Promise<number> {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from media where workspace_id = ${workspaceId}`;
  return row?.count ?? 0;
}

test("the deleted media of a workspace are removed at once, also while a removed workspace has 20,000", async () => {
  const [removed, other] = [newId(), newId()];
  await addDeleting(removed, 20_000);
  await addDeleting(other, 10);
  await service.removeObjects();
  expect(await countOf(other)).toBe(0);
  expect(await countOf(removed)).toBe(19_990);
});

test("with deleted media in more workspaces than a page, each workspace gets its turn", async () => {
  const workspaceIds = Array.from({ length: 50 }, newId);
  for (const workspaceId of workspaceIds) await addDeleting(workspaceId, 5);
  const turn = new RemovalTurn();
  for (let page = 0; page < 3; page += 1) await service.removeObjects(60_000, turn);
  for (const workspaceId of workspaceIds) expect(await countOf(workspaceId)).toBeLessThan(5);
});

test("claiming deleted media reads few rows, however many media of a workspace wait", async () => {
  const workspaceIds = Array.from({ length: 3 }, newId).toSorted();
  for (const workspaceId of workspaceIds) await addDeleting(workspaceId, 20_000);
  await service.database.ownerSql`analyze media.media`;
  await service.sql.begin(async (tx) => {
    const read = async () => {
      const [row] = await tx<{ scans: number; rows: number }[]>`
        select seq_scan::int as scans, idx_tup_fetch::int as rows
        from pg_stat_xact_user_tables
        where relname = 'media'`;
      return row ?? { scans: 0, rows: 0 };
    };
    const before = await read();
    const found = await listRemovableWorkspaces(tx, workspaceIds[0] ?? "", 20);
    expect(found).toEqual(workspaceIds.slice(1));
    const claimed = await claimRemovable(tx, found, { leaseMs: 1, limit: 20 });
    expect(claimed).toHaveLength(20);
    const after = await read();
    expect(after.scans).toBe(before.scans);
    expect(after.rows - before.rows).toBeLessThan(100);
  });
});
