import { newId } from "@postrider/shared/ids";
import {
  changed,
  expectEachTableDecided,
  exportRows,
} from "@postrider/shared/testing/workspace-import";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

let target: TestMedia;
beforeEach(async () => {
  target = await startMedia();
});
afterEach(() => target[Symbol.asyncDispose]());

interface Exported {
  readonly workspaceId: string;
  readonly id: string;
  readonly row: string;
  readonly file: Buffer;
}

/** Exports ready media with a description, and forgets them, as after a removal. */
async function exportMedia(): Promise<Exported> {
  const file = await png();
  const grant = await createGrant(target, file.length);
  await upload(target, grant, file);
  const { id, workspaceId } = await target.complete(grant);
  await target.sql`
    update media
    set alt_text = 'A square', prepared_at = now(), created_at = now() - interval '50 days'`;
  const { media = [] } = await exportRows(target.sql, EXPORTED_TABLES, workspaceId);
  await target.sql`delete from media`;
  return { workspaceId, id, row: media[0] ?? "", file };
}

/** Uploads as far as the test wants. */
async function begin({ workspaceId, id, row, file }: Exported, bytes = file): Promise<void> {
  const { uploadToken } = await target.files.beginMediaFile({ workspaceId, row });
  await upload(target, { uploadPath: id, uploadToken }, bytes);
}

test("each table of media is exported or has a reason not to be", async () => {
  await expectEachTableDecided(target.sql, EXPORTED_TABLES, {
    import_claims: "of requests in progress",
    job_runs: "of the installation",
    media_renditions: "made anew",
    storage_changes: "counted anew",
    storage_limits: "of the installation",
    storage_usage: "counted anew",
    upload_grants: "uploads that were not completed are repeated",
  });
});

test("imported media keep their id, description and times, and their file is checked like any upload", async () => {
  const media = await exportMedia();
  const { workspaceId, row } = media;
  await target.rows.prepareRowImport({ workspaceId });
  await begin(media);
  await target.files.completeMediaFile({ workspaceId, row });
  const { media: again = [] } = await exportRows(target.sql, EXPORTED_TABLES, workspaceId);
  const { version: _version, ...shown } = JSON.parse(row) as Record<string, unknown>;
  expect(JSON.parse(again[0] ?? "")).toMatchObject(shown);
  expect(shown).toMatchObject({ alt_text: "A square", status: "ready" });
  expect((await target.files.beginMediaFile({ workspaceId, row })).uploadToken).toBe("");
});

test("media whose name has 255 characters are imported, however many UTF-16 units these are", async () => {
  const { workspaceId, row } = await exportMedia();
  await target.rows.prepareRowImport({ workspaceId });
  const named = (count: number) => changed(row, { file_name: "😀".repeat(count) });
  const { uploadToken } = await target.files.beginMediaFile({ workspaceId, row: named(255) });
  expect(uploadToken).not.toBe("");
  await expect(target.files.beginMediaFile({ workspaceId, row: named(256) })).rejects.toMatchObject(
    { reason: "invalid_request" },
  );
});

test("an import of a file that stopped before its upload or after it begins again", async () => {
  const media = await exportMedia();
  const { workspaceId, row } = media;
  await target.rows.prepareRowImport({ workspaceId });
  await target.files.beginMediaFile({ workspaceId, row });
  await begin(media);
  await begin(media);
  await target.files.completeMediaFile({ workspaceId, row });
  const [stored] = await target.sql`select status, alt_text from media`;
  expect(stored).toEqual({ status: "ready", altText: "A square" });
});

test("a file whose SHA-256 is not that of the exported media does not stay", async () => {
  const media = await exportMedia();
  const { workspaceId, row } = media;
  await target.rows.prepareRowImport({ workspaceId });
  const other = await png(200);
  const forged = changed(row, { bytes: other.length });
  await begin({ ...media, row: forged }, other);
  const complete = target.files.completeMediaFile({ workspaceId, row: forged });
  await expect(complete).rejects.toThrow("media_rejected");
  expect(await target.sql`select status from media`).toEqual([{ status: "deleting" }]);
});

test("media with the id of media of another workspace are refused, and the others stay", async () => {
  const media = await exportMedia();
  await target.rows.prepareRowImport(media);
  await begin(media);
  await target.files.completeMediaFile(media);
  const workspaceId = newId();
  await target.rows.prepareRowImport({ workspaceId });
  const forged = { workspaceId, row: changed(media.row, { workspace_id: workspaceId }) };
  await expect(target.files.beginMediaFile(forged)).rejects.toThrow("row_exists");
  await expect(target.files.completeMediaFile(forged)).rejects.toThrow("not_found");
  expect(await target.sql`select workspace_id, status from media`).toEqual([
    { workspaceId: media.workspaceId, status: "ready" },
  ]);
});

test("the idempotency keys of imports of files arrive, so that a repeated request imports no second file", async () => {
  const workspaceId = newId();
  const key = {
    workspaceId,
    operation: "ImportMedia",
    key: "k",
    fingerprint: "f",
    response: "\\x0a",
  };
  await target.sql`insert into idempotency_keys ${target.sql(key)}`;
  const stored = await target.sql`select * from idempotency_keys`;
  const { idempotency_keys: rows = [] } = await exportRows(
    target.sql,
    EXPORTED_TABLES,
    workspaceId,
  );
  await target.sql`delete from idempotency_keys`;
  await target.rows.prepareRowImport({ workspaceId });
  await target.rows.importRows({ workspaceId, table: "idempotency_keys", rows: [...rows] });
  expect(await target.sql`select * from idempotency_keys`).toEqual(stored);
  expect(stored).toHaveLength(1);
});

test("imported files count against the storage of the workspace", async () => {
  const { workspaceId, row } = await exportMedia();
  await target.rows.prepareRowImport({ workspaceId });
  await target.storage.setStorageLimit({ workspaceId, limitBytes: 10n });
  const refused = target.files.beginMediaFile({ workspaceId, row });
  await expect(refused).rejects.toThrow("quota_exceeded");
});

test("a file is refused while no import of its workspace is in progress", async () => {
  const { workspaceId, row } = await exportMedia();
  const refused = target.files.beginMediaFile({ workspaceId, row });
  await expect(refused).rejects.toThrow("invalid_transition");
});

test("a file of an import is refused like an upload while the service takes no new files", async () => {
  const { workspaceId, row } = await exportMedia();
  await target.rows.prepareRowImport({ workspaceId });
  await using full = await target.startReplica({ maxOutboxRows: 0 });
  const refused = full.files.beginMediaFile({ workspaceId, row });
  await expect(refused).rejects.toMatchObject({ kind: "unavailable" });
});
