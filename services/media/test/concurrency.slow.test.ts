import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { InspectFile } from "#src/domain/inspected-media.ts";
import { noise, png, startMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

/**
 * The number of inspections so far, and a function for which each inspection waits before it
 * begins.
 */
const inspections = { count: 0, before: (): Promise<unknown> => Promise.resolve() };
const counted =
  (real: InspectFile): InspectFile =>
  async (path, declared) => {
    inspections.count += 1;
    await inspections.before();
    return await real(path, declared);
  };

const service = await startMedia({ inspect: counted });
const replica = await service.startReplica();
afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});
beforeEach(async () => {
  inspections.count = 0;
  inspections.before = () => Promise.resolve();
  await service.sql`delete from outbox`;
});

async function uploaded(body?: Buffer) {
  const bytes = body ?? (await png());
  const grant = await createGrant(service, bytes.length);
  await upload(service, grant, bytes);
  return grant;
}

/** Delays inspections of media files until `open` is called. */
function holdInspections() {
  const { promise, resolve } = Promise.withResolvers<void>();
  inspections.before = () => promise;
  return { open: resolve };
}

test("concurrent CompleteUpload calls on two replicas share one inspection", async () => {
  const grant = await uploaded();
  const gate = holdInspections();

  const asked = [service, replica, service, replica, service].map((it) => it.complete(grant));
  await eventually(() => inspections.count === 1);
  gate.open();

  const answers = await Promise.all(asked);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(inspections.count).toBe(1);
  expect(await service.events()).toEqual([["MediaReady", grant.id, 2n]]);
});

test("all concurrent CompleteUpload calls on two replicas return the rejection that one inspection found", async () => {
  const before = await service.listStored();
  const grant = await uploaded(noise(100));

  const asked = [service, replica, service].map((it) => it.complete(grant));

  for (const answer of await Promise.allSettled(asked))
    expect(answer).toMatchObject({ status: "rejected", reason: { reason: "media_rejected" } });
  expect(inspections.count).toBe(1);
  expect(await service.listStored()).toEqual(before);
});

test("the check of an upload continues after CompleteUpload has timed out, and a later call returns its result", async () => {
  await using hurried = await service.startReplica({ completeMs: 200 });
  const grant = await uploaded();
  const gate = holdInspections();

  await expect(hurried.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(hurried.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  gate.open();

  await eventually(async () =>
    expect(await hurried.complete(grant)).toMatchObject({ status: "ready" }),
  );
  expect(inspections.count).toBe(1);
});

test("CompleteUpload returns unavailable when the media service cannot inspect the file at the moment, and a later call succeeds", async () => {
  await using crowded = await service.startReplica({
    inspect: () => () => Promise.resolve({ kind: "unavailable" }),
  });
  const grant = await uploaded();

  await expect(crowded.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("media that are deleted while they are checked stay deleted and leave no object", async () => {
  const before = await service.listStored();
  const grant = await uploaded();
  const gate = holdInspections();
  const asked = service.complete(grant);
  asked.catch(() => undefined);
  await eventually(() => inspections.count === 1);

  const { workspaceId, id } = grant;
  expect(await replica.media.deleteMedia({ workspaceId, id })).toMatchObject({ gone: true });
  gate.open();

  await expect(asked).rejects.toMatchObject({ reason: "not_found" });
  expect(await service.listStored()).toEqual(before);
  expect(await service.events()).toEqual([]);
});

test("media are checked again after the lease of a dead process has expired", async () => {
  const grant = await uploaded();
  await service.sql`
    update media
    set lease_token = ${newId()}, lease_until = now() + interval '1 second'
    where id = ${grant.id}`;

  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
  expect(inspections.count).toBe(1);
});

test("an upload check that has lost its lease on the media does not write its result", async () => {
  const grant = await uploaded();
  const gate = holdInspections();
  const asked = service.complete(grant);
  await eventually(() => inspections.count === 1);
  await service.sql`
    update media
    set lease_token = ${newId()}, lease_until = now() + interval '1 second'
    where id = ${grant.id}`;
  gate.open();

  expect(await asked).toMatchObject({ status: "ready" });
  expect(inspections.count).toBe(2);
  expect(await service.events()).toEqual([["MediaReady", grant.id, 2n]]);
});

test("a process that stops aborts its upload checks, and another replica completes the upload", async () => {
  const stopping = await service.startReplica();
  const grant = await uploaded();
  const gate = holdInspections();
  const asked = stopping.complete(grant);
  asked.catch(() => undefined);
  await eventually(() => inspections.count === 1);
  const stopped = stopping[Symbol.asyncDispose]();
  gate.open();
  await stopped;

  await expect(asked).rejects.toMatchObject({ kind: "unavailable" });
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("upload checks of one workspace leave slots free for the checks of other workspaces", async () => {
  const mayEnd = Promise.withResolvers<void>();
  const [large, small] = [await png(1, 16), await png(1, 8)];
  let running = 0;
  await using replica = await service.startReplica({
    inspect: (real) => async (path, declared) => {
      if (declared?.bytes !== large.length) return await real(path, declared);
      running += 1;
      await mayEnd.promise;
      return await real(path, declared);
    },
  });
  const workspaceId = newId();
  const grants = await Promise.all(
    Array.from({ length: 6 }, () => createGrant(service, large.length, { workspaceId })),
  );
  for (const grant of grants) await upload(service, grant, large);
  const waiting = Promise.all(grants.map((grant) => replica.complete(grant)));
  await eventually(() => running === 2);

  const other = await createGrant(service, small.length);
  await upload(service, other, small);
  expect(await replica.complete(other)).toMatchObject({ status: "ready" });
  expect(running).toBe(2);
  mayEnd.resolve();
  expect((await waiting).map(({ status }) => status)).toEqual(Array(6).fill("ready"));
});
