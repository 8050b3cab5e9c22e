import { newId } from "@postrider/shared/ids";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { afterAll, expect, test } from "vitest";
import { lockStorage, MIN_FILE_BYTES, readStorage } from "#src/db/storage.ts";
import { checkStorage, createStorageTurns } from "#src/operations/storage-limit.ts";
import { startHost, startImporter } from "./import-fixture.ts";
import { noise, png, startMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

const service = await startMedia({ storageBytes: 100_000 });
afterAll(() => service[Symbol.asyncDispose]());

const storageOf = async (workspaceId: string) => {
  const { storage } = await service.storage.getStorage({ workspaceId });
  if (storage === undefined) throw new Error("the response contains no storage");
  const { limitBytes, isDefault, usedBytes, reservedBytes } = storage;
  return { limitBytes, isDefault, usedBytes, reservedBytes };
};

test("CreateUpload refuses an upload beyond the storage limit of its workspace with the error quota_exceeded", async () => {
  const workspaceId = newId();
  const first = await createGrant(service, 60_000, { workspaceId });
  await expect(createGrant(service, 40_001, { workspaceId })).rejects.toMatchObject({
    kind: "unprocessable",
    reason: "quota_exceeded",
    violations: [
      { code: "storage", limit: 100_000, used: 0n, reserved: 60_000n, requested: 40_001n },
    ],
  });
  await createGrant(service, 100_000);
  await createGrant(service, 40_000, { workspaceId });
  await service.media.deleteMedia({ workspaceId, id: first.id });
  await createGrant(service, 60_000, { workspaceId });
});

test("concurrent uploads never exceed the storage limit of their workspace", async () => {
  const workspaceId = newId();
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => createGrant(service, 30_000, { workspaceId })),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test.each(["pending", "deleting"])(
  "CreateUpload refuses an upload when 1,000 earlier uploads of the workspace have the status %s and were never ready",
  async (status) => {
    const workspaceId = newId();
    await service.sql`
      insert into media (id, workspace_id, status, kind, content_type, bytes, file_name, lease_until)
      select gen_random_uuid(), ${workspaceId}, ${status}, 'image', 'image/png', 1, 'a.png', 'infinity'
      from generate_series(1, 999)`;
    await service.storage.setStorageLimit({ workspaceId, limitBytes: 20_000_000n });
    const last = await createGrant(service, 1, { workspaceId });
    await expect(createGrant(service, 1, { workspaceId })).rejects.toMatchObject({
      reason: "quota_exceeded",
      violations: [{ code: "pending_uploads", limit: 1_000, actual: 1_000 }],
    });
    await service.media.deleteMedia({ workspaceId, id: last.id });
    await createGrant(service, 1, { workspaceId });
  },
);

test("CreateUpload calls of one workspace that wait for each other leave database connections for other workspaces", async () => {
  const workspaceId = newId();
  await service.storage.setStorageLimit({ workspaceId, limitBytes: 1_000_000n });
  let calls: Promise<unknown>[] = [];
  await service.sql.begin(async (tx) => {
    await lockStorage(tx, workspaceId);
    calls = Array.from({ length: 20 }, () => createGrant(service, 1, { workspaceId }));
    await createGrant(service, 1);
  });
  expect(await Promise.all(calls)).toHaveLength(20);
});

test("the used storage of a workspace includes stored files until their objects are deleted, and excludes rejected files", async () => {
  const workspaceId = newId();
  const body = await png();
  const bytes = BigInt(MIN_FILE_BYTES);
  const grant = await createGrant(service, body.length, { workspaceId });
  expect(await storageOf(workspaceId)).toMatchObject({ usedBytes: 0n, reservedBytes: bytes });
  await upload(service, grant, body);
  await service.complete(grant);
  expect(await storageOf(workspaceId)).toMatchObject({ usedBytes: bytes, reservedBytes: 0n });

  const rejected = await createGrant(service, 100, { workspaceId });
  await upload(service, rejected, noise(100));
  await expect(service.complete(rejected)).rejects.toMatchObject({ reason: "media_rejected" });
  expect(await storageOf(workspaceId)).toMatchObject({ usedBytes: bytes, reservedBytes: 0n });

  await service.media.deleteMedia({ workspaceId, id: grant.id });
  expect(await storageOf(workspaceId)).toMatchObject({ usedBytes: bytes });
  await service.removeObjects();
  expect(await storageOf(workspaceId)).toMatchObject({ usedBytes: 0n });
});

test("an operator sets and removes the storage limit of one workspace", async () => {
  const workspaceId = newId();
  await service.storage.setStorageLimit({ workspaceId, limitBytes: 200_000n });
  expect(await storageOf(workspaceId)).toMatchObject({ limitBytes: 200_000n, isDefault: false });
  await createGrant(service, 150_000, { workspaceId });
  await service.storage.setStorageLimit({ workspaceId, limitBytes: 0n });
  await expect(createGrant(service, 1, { workspaceId })).rejects.toMatchObject({
    reason: "quota_exceeded",
  });
  await service.storage.setStorageLimit({ workspaceId });
  expect(await storageOf(workspaceId)).toEqual({
    limitBytes: 100_000n,
    isDefault: true,
    usedBytes: 0n,
    reservedBytes: 150_000n,
  });
});

test.each([
  ["a malformed workspace id", { workspaceId: "a" }],
  ["a negative limit", { workspaceId: newId(), limitBytes: -1n }],
])("SetStorageLimit refuses %s", async (_, request) => {
  await expect(service.storage.setStorageLimit(request)).rejects.toMatchObject({
    reason: "invalid_request",
  });
});

test("the media of a workspace, also rejected ones, are counted, and at 1,000,000 a further one is refused", async () => {
  const workspaceId = newId();
  const { id } = await createGrant(service, 100, { workspaceId });
  await service.sql`update media set status = 'rejected', rejection = '{}' where id = ${id}`;
  await createGrant(service, 100, { workspaceId });
  const stored = await readStorage(service.sql, workspaceId);
  expect(stored).toMatchObject({ mediaCount: 2, uploadCount: 1 });

  const sql = (() => Promise.resolve([{ ...stored, mediaCount: 1_000_000 }])) as unknown as Sql;
  const demand = { workspaceId, bytes: 1, defaultLimitBytes: 1_000_000_000 };
  const storageTurns = createStorageTurns();
  await expect(checkStorage({ sql, storageTurns }, demand)).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "stored_files", limit: 1_000_000, actual: 1_000_000 }],
  });
});

test("an import beyond the storage limit of its workspace is refused and leaves no object", async () => {
  await using host = await startHost((_request, response) => response.end("PNG and more bytes"));
  await using importer = await startImporter();
  const workspaceId = newId();
  const refused = { reason: "quota_exceeded" };
  const importWith = async (storageBytes: number) =>
    await importer.startReplica({ storageBytes }).media.importMedia({ workspaceId, url: host.url });

  await expect(importWith(0)).rejects.toMatchObject(refused);
  expect(host.requests).toEqual([]);
  await expect(importWith(MIN_FILE_BYTES - 1)).rejects.toMatchObject(refused);
  expect(await importer.remains(workspaceId)).toEqual({ rows: 0, objects: 0, files: 0 });
  expect(await importWith(MIN_FILE_BYTES)).toMatchObject({ media: { status: "ready" } });
});

/** Adds up the rows of media, as the counters should say. */
async function countRows(workspaceId: string) {
  const [row] = await service.sql`
    select
      (coalesce(sum(of.used_bytes), 0) + (
        select coalesce(sum(file_bytes(bytes)), 0) from media_renditions where workspace_id = ${workspaceId}
      ))::bigint as used_bytes,
      coalesce(sum(of.reserved_bytes), 0)::bigint as reserved_bytes,
      coalesce(sum(of.uploads), 0)::int as upload_count,
      count(*)::int as media_count
    from media
    cross join lateral storage_of(media) as of
    where workspace_id = ${workspaceId}`;
  return row;
}

test("the counters of a workspace's storage agree with its rows after many changes at once", async () => {
  const workspaceId = newId();
  const { sql } = service;
  const insert = async (at: ISql, id: string, bytes: number) => {
    await at`
      insert into media (id, workspace_id, status, kind, content_type, bytes, file_name, object_key)
      values (${id}, ${workspaceId}, 'pending', 'image', 'image/png', ${bytes}, 'a.png', ${id})`;
  };
  await service.storage.setStorageLimit({ workspaceId, limitBytes: 10_000_000n });
  const ids = Array.from({ length: 40 }, () => newId());
  await Promise.all(ids.map((id, index) => insert(sql, id, 1_000 * (index + 1))));
  await sql.begin(async (tx) => {
    // The changes of the others are stored apart, because this transaction has the lock.
    await lockStorage(tx, workspaceId);
    await insert(tx, newId(), 500_000);
    await Promise.all(
      ids.map(async (id, index) => {
        if (index % 4 === 0) await sql`delete from media where id = ${id}`;
        if (index % 4 === 1) await sql`update media set status = 'deleting' where id = ${id}`;
        if (index % 4 === 2)
          await sql`update media set status = 'rejected', rejection = '{}', object_key = null where id = ${id}`;
        if (index % 4 === 3)
          await sql`
            insert into media_renditions (id, workspace_id, media_id, plan, status, bytes, refusal)
            values (gen_random_uuid(), ${workspaceId}, ${id}, 'plan', 'refused', ${20_000 + index}, 'none')`;
      }),
    );
  });
  expect(await sql`select from storage_changes where workspace_id = ${workspaceId}`).not.toEqual(
    [],
  );
  expect(await readStorage(sql, workspaceId)).toMatchObject({ ...(await countRows(workspaceId)) });

  await createGrant(service, 1, { workspaceId });
  expect(await sql`select from storage_changes where workspace_id = ${workspaceId}`).toEqual([]);
  await sql`delete from media where workspace_id = ${workspaceId} and status = 'pending'`;
  expect(await readStorage(sql, workspaceId)).toMatchObject({ ...(await countRows(workspaceId)) });
});

test("an upload to a workspace with 20,000 files reads none of their rows", async () => {
  const workspaceId = newId();
  await service.sql`
    insert into media (id, workspace_id, status, kind, content_type, bytes, file_name, rejection)
    select gen_random_uuid(), ${workspaceId}, 'rejected', 'image', 'image/png', 1, 'a.png', '{}'
    from generate_series(1, 20000)`;
  expect(await readStorage(service.sql, workspaceId)).toMatchObject({ mediaCount: 20_000 });
  const rowsRead = await service.sql.begin(async (tx) => {
    const read = async () => {
      const [row] = await tx<[{ count: number }]>`
        select (pg_stat_get_xact_tuples_returned('media'::regclass)
          + pg_stat_get_xact_tuples_fetched('media'::regclass))::int as count`;
      return row.count;
    };
    const before = await read();
    await readStorage(tx, workspaceId);
    return (await read()) - before;
  });
  expect(rowsRead).toBe(0);
});
