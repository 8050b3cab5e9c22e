import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { readMarker, writeMarker } from "#src/storage/store-marker.ts";
import { DEPLOYMENT, GATEWAY, noise, png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, upload, type Grant } from "./upload-client.ts";

/** A negative minimum age in milliseconds, so that every stored object counts as old enough. */
const NO_AGE = -60_000;
const COPY = "copy";
const DAY = "24 hours 1 minute";

let folder: string;
let store: ObjectStore;
let original: TestMedia;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "media-copy-"));
  store = await openDiskStore(join(folder, "objects"));
  original = await startMedia({ store });
});
afterEach(async () => {
  await original[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function ready(service: TestMedia = original): Promise<Grant> {
  const body = await png();
  const grant = await createGrant(service, body.length);
  await upload(service, grant, body);
  await service.complete(grant);
  return grant;
}

async function putFile(key = `objects/${newId()}`): Promise<string> {
  await store.put(
    key,
    (async function* () {
      yield noise(10);
    })(),
  );
  return key;
}

/**
 * Starts another deployment on a database of its own, into which the rows of the original were
 * copied.
 */
async function startCopy(deploymentId: string = COPY): Promise<TestMedia> {
  const copy = await startMedia({ store, deploymentId });
  const rows = await original.sql`select * from media`;
  if (rows.length > 0) await copy.sql`insert into media ${copy.sql(rows)}`;
  await copyOwner(copy);
  return copy;
}

/**
 * Makes the data of a copy belong to the deployment of the original, as it does after a backup was
 * loaded.
 */
async function copyOwner({ sql }: TestMedia): Promise<void> {
  const [owner = {}] = await original.sql`
    select system_identifier, database_oid, deployment_id, store_pass from deployment`;
  await sql`update deployment set ${sql(owner)}`;
}

async function makeRestoreOld({ sql }: Pick<TestMedia, "sql">): Promise<void> {
  await sql`update deployment set restored_at = now() - ${DAY}::interval`;
}

async function readFile(
  { url }: Pick<TestMedia, "url">,
  { workspaceId, id }: Grant,
): Promise<number> {
  const answer = await fetch(`${url}/objects/${workspaceId}/${id}`, { headers: GATEWAY });
  await answer.arrayBuffer();
  return answer.status;
}

/** Lets every job run once. The copy does not share `job_runs` with the original. */
async function runJobs(
  service: Pick<
    TestMedia,
    "sql" | "removeObjects" | "removeForgottenUploads" | "removeOrphansWhenDue"
  >,
): Promise<void> {
  await service.sql`update job_runs set next_at = now()`;
  await service.removeObjects(0);
  await service.removeForgottenUploads(0);
  await service.removeOrphansWhenDue(0, NO_AGE);
}

test("a copy of the data deletes no files, neither unknown ones nor those of deleted media, and the original still deletes its own", async () => {
  const known = await ready();
  await using copy = await startCopy();
  const later = await ready();
  const stored = await original.listStored();

  await copy.media.deleteMedia({ workspaceId: known.workspaceId, id: known.id });
  await runJobs(copy);
  await expect(copy.guard.read()).resolves.toEqual({ kind: "foreign_data", reason: "database" });
  expect(await original.listStored()).toEqual(stored);

  await original.media.deleteMedia({ workspaceId: later.workspaceId, id: later.id });
  await runJobs(original);
  expect(await original.listStored()).toHaveLength(stored.length - 1);
});

test("an adopted copy keeps all files of the original's object store until an operator adopts the store, and then the original deletes nothing", async () => {
  const known = await ready();
  await using copy = await startCopy();
  const unknown = await putFile();
  const stored = await original.listStored();

  expect(await copy.recovery.adoptData({})).toMatchObject({ adopted: true });
  await makeRestoreOld(copy);
  await copy.media.deleteMedia({ workspaceId: known.workspaceId, id: known.id });
  await runJobs(copy);
  expect(await original.listStored()).toEqual(stored);
  expect(await copy.recovery.getRecovery({})).toMatchObject({
    heldBecause: "",
    store: { heldBecause: "deployment", belongsTo: expect.stringContaining(DEPLOYMENT) },
  });

  expect(await copy.recovery.adoptStore({})).toMatchObject({ adopted: true });
  expect(await copy.recovery.adoptStore({})).toMatchObject({ adopted: false });
  await runJobs(copy);
  // The copy may delete what it was told to delete. Files that it does not know are kept for a day.
  expect(await original.listStored()).toEqual([unknown]);
  await runJobs(original);
  expect(await original.listStored()).toEqual([unknown]);
  await makeRestoreOld(copy);
  await runJobs(copy);
  expect(await original.listStored()).toEqual([]);
});

test("the object store cannot be adopted while the data belongs to another deployment", async () => {
  await using copy = await startCopy();
  await expect(copy.recovery.adoptStore({})).rejects.toMatchObject({
    reason: "invalid_transition",
  });
  expect(await readMarker(store)).toMatchObject({ deploymentId: DEPLOYMENT });
});

test("two deployments with data of their own that share an object store do not delete each other's files: only the owner of the store accepts any", async () => {
  const first = await ready();
  await using other = await startMedia({ store, deploymentId: "other" });
  const stored = await original.listStored();

  await runJobs(other);
  expect(await other.guard.read()).toMatchObject({ owner: { kind: "foreign" } });
  expect(await original.listStored()).toEqual(stored);
  // The owner of the store deletes what it does not know.
  await expect(ready(other)).rejects.toMatchObject({ reason: "unavailable" });
  const imported = { workspaceId: newId(), url: "https://example.com/a.png" };
  await expect(other.media.importMedia(imported)).rejects.toMatchObject({ reason: "unavailable" });
  await runJobs(original);
  expect(await original.complete(first)).toMatchObject({ status: "ready" });
  expect(await original.listStored()).toEqual(stored);

  await other.recovery.adoptStore({});
  const second = await ready(other);
  await runJobs(original);
  expect(await other.complete(second)).toMatchObject({ status: "ready" });
  await expect(ready()).rejects.toMatchObject({ reason: "unavailable" });
});

test("an object store without a marker that contains older files is not marked without an operator, and only its files without a row are kept", async () => {
  await store.delete("deployment/owner.json");
  const unknown = await putFile();
  await using upgraded = await startMedia({ store, deploymentId: "upgraded" });
  await upgraded.sql`update deployment set owned_since = now() + interval '1 minute'`;
  const deleted = await ready(upgraded);

  await upgraded.media.deleteMedia({ workspaceId: deleted.workspaceId, id: deleted.id });
  await runJobs(upgraded);
  expect(await original.listStored()).toEqual([unknown]);
  expect(await readMarker(store)).toBeUndefined();
  expect(await upgraded.recovery.getRecovery({})).toMatchObject({
    store: { heldBecause: "unmarked", belongsTo: "" },
  });

  await upgraded.recovery.adoptStore({});
  await makeRestoreOld(upgraded);
  await runJobs(upgraded);
  expect(await original.listStored()).toEqual([]);
});

test("an object store whose marker cannot be read keeps all files", async () => {
  await store.put(
    "deployment/owner.json",
    (async function* () {
      yield Buffer.from("{");
    })(),
  );
  await putFile();
  const stored = await original.listStored();
  await using other = await startMedia({ store, deploymentId: "other" });
  await runJobs(other);
  expect(await original.listStored()).toEqual(stored);
  expect(await other.guard.read()).toMatchObject({ owner: { kind: "unreadable" } });
});

test("while the disk of the object store is not mounted, stored files are unavailable instead of deleted and uploads are refused, until the disk is back", async () => {
  const known = await ready();
  const granted = await createGrant(original, 10);
  const objects = join(folder, "objects");
  await rename(objects, join(folder, "unmounted"));
  const opened = await openDiskStore(objects);
  await using service = await original.startReplica({ store: opened });
  const jobs = { ...service, sql: original.sql };
  const file = () => readFile(service, known);

  expect(await service.recovery.getRecovery({})).toMatchObject({
    store: { heldBecause: "files_missing", belongsTo: "" },
  });
  expect(await file()).toBe(503);
  expect(
    await service.files
      .readMediaFile({ workspaceId: known.workspaceId, id: known.id, offset: 0n })
      .catch((error: unknown) => error),
  ).toMatchObject({ reason: "unavailable" });
  await expect(createGrant(service, 10)).rejects.toMatchObject({ reason: "unavailable" });
  expect((await upload(service, granted, Buffer.alloc(10, 1))).status).toBe(503);
  await service.media.deleteMedia({ workspaceId: known.workspaceId, id: known.id });
  await runJobs(jobs);
  expect(await Array.fromAsync(opened.list("", new Date(Date.now() + 60_000)))).toEqual([]);

  await rm(objects, { recursive: true });
  await rename(join(folder, "unmounted"), objects);
  expect(await service.guard.read()).toMatchObject({ owner: { kind: "own" } });
  await runJobs(jobs);
  expect(await original.listStored()).toEqual([]);
});

test("an object store that was emptied serves uploads again, and answers that its files are gone, once an operator adopts it", async () => {
  const known = await ready();
  for (const key of ["deployment/owner.json", ...(await original.listStored())])
    await store.delete(key);
  expect(await readFile(original, known)).toBe(503);

  expect(await original.recovery.adoptStore({})).toMatchObject({ adopted: true });
  expect(await readFile(original, known)).toBe(404);
  const later = await ready();
  expect(await readFile(original, later)).toBe(200);
});

test("an object store that was used before is not marked again without an operator, even if the database names no file", async () => {
  await original.guard.countPass();
  await store.delete("deployment/owner.json");
  await using service = await original.startReplica();
  expect(await service.guard.read()).toMatchObject({ owner: { kind: "files_missing" } });
  expect(await readMarker(store)).toBeUndefined();
});

test("two replicas that start at once on an empty object store both accept its marker", async () => {
  await store.delete("deployment/owner.json");
  const replicas = await Promise.all([1, 2, 3].map(() => original.startReplica()));
  const states = await Promise.all(replicas.map(({ guard }) => guard.read()));
  expect(states.map((state) => state.kind === "own_data" && state.owner.kind)).toEqual([
    "own",
    "own",
    "own",
  ]);
  await Promise.all(replicas.map(({ guard }) => guard.countPass()));
  expect(await original.guard.read()).toMatchObject({ keptUntil: null, owner: { kind: "own" } });
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
});

test.each([
  ["is on a new timeline", "update deployment set timeline = timeline + 1"],
  ["was loaded from a dump", "update deployment set table_oid = table_oid + 1"],
  ["knows fewer passes than the marker", "update deployment set store_pass = store_pass - 1"],
  ["was marked as restored", ""],
])(
  "for a day after a restore, which shows because the database %s, files that were uploaded since the backup are kept",
  async (_name, change) => {
    await original.guard.countPass();
    await original.guard.countPass();
    const known = await ready();
    const unknown = await putFile();
    const forgotten = await createGrant(original, 10);
    await upload(original, forgotten, Buffer.alloc(10, 1));
    const stored = await original.listStored();

    if (change === "") await original.recovery.markRestored({});
    else await original.sql.unsafe(change);
    await runJobs(original);
    await runJobs(original);
    expect(await original.listStored()).toEqual(stored);
    expect(await original.recovery.getRecovery({})).toMatchObject({
      heldBecause: "",
      filesKeptUntil: expect.anything(),
    });
    // What the database names and was told to delete is deleted nevertheless.
    await original.media.deleteMedia({ workspaceId: known.workspaceId, id: known.id });
    await runJobs(original);
    expect(await original.listStored()).toHaveLength(stored.length - 1);

    await makeRestoreOld(original);
    await runJobs(original);
    expect(await original.listStored()).not.toContain(unknown);
  },
);

test("a process whose marker was replaced by another deployment between two reads deletes no file without a row", async () => {
  await putFile();
  const stored = await original.listStored();
  await writeMarker(store, { deploymentId: "x", systemIdentifier: "1", databaseOid: 1, pass: 0 });
  await runJobs(original);
  expect(await original.listStored()).toEqual(stored);
});
