import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { InspectFile } from "#src/domain/inspected-media.ts";
import { noise, png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

/** What the next checks do before the real one; counted. */
const checking = { count: 0, before: (): Promise<unknown> => Promise.resolve() };
const counted =
  (real: InspectFile): InspectFile =>
  async (path, declared) => {
    checking.count += 1;
    await checking.before();
    return await real(path, declared);
  };

let service: TestMedia;
let replica: Awaited<ReturnType<TestMedia["startReplica"]>>;
beforeAll(async () => {
  service = await startMedia({ inspect: counted });
  replica = await service.startReplica();
});
afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});
beforeEach(async () => {
  checking.count = 0;
  checking.before = () => Promise.resolve();
  await service.sql`delete from outbox`;
});

async function uploaded(body?: Buffer) {
  const bytes = body ?? (await png());
  const grant = await createGrant(service, bytes.length);
  await upload(service, grant, bytes);
  return grant;
}

/** Holds checks back until `open` is called. */
function holdChecks() {
  const { promise, resolve } = Promise.withResolvers<void>();
  checking.before = () => promise;
  return { open: resolve };
}

test("requests to complete at the same moment, in any replica, share one check", async () => {
  const grant = await uploaded();
  const gate = holdChecks();

  const asked = [service, replica, service, replica, service].map((it) => it.complete(grant));
  await eventually(() => checking.count === 1);
  gate.open();

  const answers = await Promise.all(asked);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(checking.count).toBe(1);
  expect(await service.events()).toEqual([["MediaReady", grant.id, 2n]]);
});

test("requests to complete what is rejected, in any replica, all say so after one check", async () => {
  const before = await service.listStored();
  const grant = await uploaded(noise(100));

  const asked = [service, replica, service].map((it) => it.complete(grant));

  for (const answer of await Promise.allSettled(asked))
    expect(answer).toMatchObject({ status: "rejected", reason: { reason: "media_rejected" } });
  expect(checking.count).toBe(1);
  expect(await service.listStored()).toEqual(before);
});

test("a check that takes longer than a request waits goes on, and the next request finds it done", async () => {
  await using hurried = await service.startReplica({ completeMs: 200 });
  const grant = await uploaded();
  const gate = holdChecks();

  await expect(hurried.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(hurried.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  gate.open();

  await eventually(async () =>
    expect(await hurried.complete(grant)).toMatchObject({ status: "ready" }),
  );
  expect(checking.count).toBe(1);
});

test("a check without room is unavailable, and can be repeated at once", async () => {
  await using crowded = await service.startReplica({
    inspect: () => () => Promise.resolve({ kind: "unavailable" }),
  });
  const grant = await uploaded();

  await expect(crowded.complete(grant)).rejects.toMatchObject({ kind: "unavailable" });
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("media that are deleted while they are checked stay deleted, and nothing of them remains", async () => {
  const before = await service.listStored();
  const grant = await uploaded();
  const gate = holdChecks();
  const asked = service.complete(grant);
  asked.catch(() => undefined);
  await eventually(() => checking.count === 1);

  const { workspaceId, id } = grant;
  expect(await replica.media.deleteMedia({ workspaceId, id })).toMatchObject({ gone: true });
  gate.open();

  await expect(asked).rejects.toMatchObject({ reason: "not_found" });
  expect(await service.listStored()).toEqual(before);
  expect(await service.events()).toEqual([]);
});

test("media whose check died with its process are checked again when the lease has ended", async () => {
  const grant = await uploaded();
  await service.sql`
    update media
    set lease_token = ${newId()}, lease_until = now() + interval '1 second'
    where id = ${grant.id}`;

  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
  expect(checking.count).toBe(1);
});

test("a check that was taken for dead changes nothing", async () => {
  const grant = await uploaded();
  const gate = holdChecks();
  const asked = service.complete(grant);
  await eventually(() => checking.count === 1);
  await service.sql`
    update media
    set lease_token = ${newId()}, lease_until = now() + interval '1 second'
    where id = ${grant.id}`;
  gate.open();

  expect(await asked).toMatchObject({ status: "ready" });
  expect(checking.count).toBe(2);
  expect(await service.events()).toEqual([["MediaReady", grant.id, 2n]]);
});

test("a process that stops gives its checks up, and another one takes them over", async () => {
  const stopping = await service.startReplica();
  const grant = await uploaded();
  const gate = holdChecks();
  const asked = stopping.complete(grant);
  asked.catch(() => undefined);
  await eventually(() => checking.count === 1);
  const stopped = stopping[Symbol.asyncDispose]();
  gate.open();
  await stopped;

  await expect(asked).rejects.toMatchObject({ kind: "unavailable" });
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});
