import { rename } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, expect, test } from "vitest";
import { insertReadyMedia } from "#src/db/media.ts";
import { noise, png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, upload, type Grant } from "./upload-client.ts";

let service: TestMedia;
beforeEach(async () => {
  service = await startMedia();
});
afterEach(() => service[Symbol.asyncDispose]());

/** A negative minimum age in milliseconds, so that every stored object counts as old enough. */
const NO_AGE = -60_000;

async function uploaded(): Promise<Grant> {
  const body = await png();
  const grant = await createGrant(service, body.length);
  await upload(service, grant, body);
  return grant;
}

async function ready(): Promise<Grant> {
  const grant = await uploaded();
  await service.complete(grant);
  return grant;
}

/** Inserts ready media and stores their object, without an upload check. */
async function stored(): Promise<Pick<Grant, "workspaceId" | "id">> {
  const ref = { workspaceId: newId(), id: newId() };
  const keys = { objectKey: `objects/${newId()}`, deliveryKey: null };
  await putOrphan(keys.objectKey);
  const checked = {
    kind: "image",
    contentType: "image/png",
    bytes: 10,
    sha256: "ab",
    width: 1,
    height: 1,
    durationMs: null,
    frames: 1,
    delivery: { kind: "same" },
  } as const;
  await service.sql.begin((tx) => insertReadyMedia(tx, { ...ref, fileName: "a" }, checked, keys));
  return ref;
}

async function remove({ workspaceId, id }: Pick<Grant, "workspaceId" | "id">): Promise<void> {
  await service.media.deleteMedia({ workspaceId, id });
}

async function putOrphan(key: string): Promise<void> {
  await service.store.put(
    key,
    (async function* () {
      yield noise(10);
    })(),
  );
}

async function listIds(): Promise<string[]> {
  const rows = await service.sql<{ id: string }[]>`select id from media order by id`;
  return rows.map(({ id }) => id);
}

test("the job remove-objects deletes the objects and then the rows of deleted media, and only one of two replicas deletes each of them", async () => {
  const kept = await ready();
  const deleted = await Promise.all(Array.from({ length: 30 }, stored));
  await Promise.all(deleted.map(remove));
  expect(await service.listStored()).toHaveLength(31);

  const removeAll = async () => {
    let sum = 0;
    for (let count = -1; count !== 0; sum += count) count = await service.removeObjects();
    return sum;
  };
  const [one, other] = await Promise.all([removeAll(), removeAll()]);

  expect(one + other).toBe(30);
  expect(await listIds()).toEqual([kept.id]);
  expect(await service.listStored()).toHaveLength(1);
  expect(await service.removeObjects()).toBe(0);
});

test("the job remove-objects keeps the rows of deleted media while the object store is unavailable, and retries", async () => {
  const grant = await ready();
  await remove(grant);
  const [objects, moved] = [join(service.folder, "objects"), join(service.folder, "moved")];
  await rename(objects, moved);

  expect(await service.removeObjects(0)).toBe(1);
  expect(await listIds()).toEqual([grant.id]);
  await rename(moved, objects);
  expect(await service.removeObjects(0)).toBe(1);
  expect(await listIds()).toEqual([]);
  expect(await service.listStored()).toEqual([]);
});

test("an upload returns unavailable while the object store is unavailable, and the upload grant can still be used", async () => {
  const body = await png();
  const grant = await createGrant(service, body.length);
  const [objects, moved] = [join(service.folder, "objects"), join(service.folder, "moved")];
  await rename(objects, moved);
  expect(await upload(service, grant, body)).toMatchObject({ status: 503, reason: "unavailable" });
  await rename(moved, objects);

  expect(await upload(service, grant, body)).toEqual({ status: 204 });
  await rename(objects, moved);
  await expect(service.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  await rename(moved, objects);
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("the job remove-forgotten-uploads deletes old uploads that were not completed, and their objects", async () => {
  const [old, young, done] = [await uploaded(), await uploaded(), await ready()];
  await service.sql`
    update media set created_at = now() - interval '25 hours' where id = any(${[old.id, done.id]}::uuid[])`;

  await Promise.all([
    service.removeForgottenUploads(86_400_000),
    service.removeForgottenUploads(86_400_000),
  ]);

  expect(await listIds()).toEqual([young.id, done.id].toSorted());
  expect(await service.listStored()).toHaveLength(2);
  const body = await png();
  expect(await upload(service, old, body)).toMatchObject({ reason: "not_found" });
});

test("the job remove-forgotten-uploads keeps an old upload that is being checked", async () => {
  const grant = await uploaded();
  await service.sql`
    update media
    set created_at = now() - interval '25 hours', lease_token = ${newId()}, lease_until = now() + interval '1 minute'
    where id = ${grant.id}`;

  await service.removeForgottenUploads(86_400_000);

  expect(await listIds()).toEqual([grant.id]);
});

test("the job remove-forgotten-uploads keeps media whose upload is so large that it may still be running", async () => {
  const created = await Promise.all(
    [1_000, 900_000_000].map((bytes) => createGrant(service, bytes, { contentType: "video/mp4" })),
  );
  await service.sql`update media set created_at = now() - interval '5 hours'`;

  await service.removeForgottenUploads(3_600_000);
  expect(await listIds()).toEqual([created[1]?.id]);

  await service.sql`update media set created_at = now() - interval '18 hours'`;
  await service.removeForgottenUploads(3_600_000);
  expect(await listIds()).toEqual([]);
});

test("the job remove-orphans deletes the objects that are old and that no database row names, and no other objects", async () => {
  const [pending, done] = [await uploaded(), await ready()];
  const named = await service.listStored();
  const waiting = await createGrant(service, 10);
  await putOrphan(`uploads/${waiting.id}`);
  await putOrphan(`uploads/${done.id}`);
  await putOrphan(`uploads/${newId()}`);
  await putOrphan(`objects/${newId()}`);
  await putOrphan("objects/no-id");

  expect(await service.removeOrphans(60_000)).toBe(0);
  await Promise.all([service.removeOrphans(NO_AGE), service.removeOrphans(NO_AGE)]);

  expect(await service.listStored()).toEqual([...named, `uploads/${waiting.id}`].toSorted());
  expect(await listIds()).toEqual([pending.id, done.id, waiting.id].toSorted());
});

test("the job remove-orphans deletes all orphaned objects even when the object store lists them on several pages", async () => {
  const grant = await ready();
  const named = await service.listStored();
  await Promise.all(Array.from({ length: 600 }, () => putOrphan(`objects/${newId()}`)));

  expect(await service.removeOrphans(NO_AGE)).toBe(600);

  expect(await service.listStored()).toEqual(named);
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("the job remove-orphans runs on one replica per interval, and again when the interval has passed", async () => {
  const hour = 3_600_000;
  const runs = await Promise.all(
    // With an age, as in production: a pass leaves files alone that another one is writing.
    Array.from({ length: 5 }, () => service.removeOrphansWhenDue(hour, hour)),
  );
  expect(runs.filter(Boolean)).toHaveLength(1);
  expect(await service.removeOrphansWhenDue(hour, hour)).toBe(false);
  await service.sql`update job_runs set next_at = next_at - interval '1 hour'`;
  expect(await service.removeOrphansWhenDue(hour, hour)).toBe(true);
});
