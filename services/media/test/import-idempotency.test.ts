import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { deleteExpiredImportClaims } from "#src/db/import-claims.ts";
import { inspectFake } from "./fake-inspection.ts";
import { startHost, startImporter } from "./import-fixture.ts";

const importer = await startImporter();
afterAll(() => importer[Symbol.asyncDispose]());

const PNG = Buffer.from("PNG and more bytes");

function keyed(url: string, change: { workspaceId?: string; fingerprint?: string } = {}) {
  const { workspaceId = newId(), fingerprint = "body" } = change;
  return { workspaceId, url, idempotency: { key: "key-1", fingerprint } };
}

/** Starts an HTTP host that sends its response only after `answer` was called. */
async function startSlowHost() {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  const host = await startHost((_request, response) => void told.then(() => response.end(PNG)));
  return { ...host, answer };
}

async function countObjects(): Promise<number> {
  return (await importer.remains(newId())).objects;
}

test("a repeated ImportMedia request returns the response of the first request without another download", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const request = keyed(host.url);
  const first = await importer.media.importMedia(request);
  const second = await importer.media.importMedia(request);
  expect(first.replayed).toBe(false);
  expect(second).toEqual({ ...first, replayed: true });
  expect(host.requests).toHaveLength(1);
  expect(await importer.remains(request.workspaceId)).toMatchObject({ rows: 1 });
});

test("a repeated ImportMedia request returns the response of the first request even after the media were deleted", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const request = keyed(host.url);
  const { media } = await importer.media.importMedia(request);
  await importer.sql`delete from media where id = ${media?.id ?? ""}`;
  expect(await importer.media.importMedia(request)).toMatchObject({ replayed: true, media });
});

test("an idempotency key that was used for one import cannot be used for a different import request", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const request = keyed(host.url);
  await importer.media.importMedia(request);
  const other = keyed(host.url, { workspaceId: request.workspaceId, fingerprint: "other" });
  await expect(importer.media.importMedia(other)).rejects.toMatchObject({
    reason: "idempotency_key_reused",
  });
  expect(host.requests).toHaveLength(1);
});

test("two workspaces can use the same idempotency key for different imports", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const [mine, theirs] = [keyed(host.url), keyed(host.url, { fingerprint: "other" })];
  const [first, second] = [
    await importer.media.importMedia(mine),
    await importer.media.importMedia(theirs),
  ];
  expect(second.replayed).toBe(false);
  expect(second.media?.id).not.toBe(first.media?.id);
});

test("a failed import does not use up its idempotency key", async () => {
  let status = 500;
  await using host = await startHost((_request, response) => response.writeHead(status).end(PNG));
  const request = keyed(host.url);
  await expect(importer.media.importMedia(request)).rejects.toMatchObject({
    reason: "import_failed",
  });
  status = 200;
  expect(await importer.media.importMedia(request)).toMatchObject({ replayed: false });
});

test("a concurrent ImportMedia request with the same idempotency key on another replica waits and returns the same response", async () => {
  await using host = await startSlowHost();
  const request = keyed(host.url);
  const first = importer.media.importMedia(request);
  await eventually(() => host.requests.length === 1);
  const second = importer.startReplica().media.importMedia(request);
  host.answer();
  expect(await second).toEqual({ ...(await first), replayed: true });
  expect(host.requests).toHaveLength(1);
});

test("an ImportMedia request fails with idempotency_conflict after waiting 2 seconds for another request with the same key", async () => {
  await using host = await startSlowHost();
  const request = keyed(host.url);
  const first = importer.media.importMedia(request);
  await eventually(() => host.requests.length === 1);
  const started = performance.now();
  await expect(importer.startReplica().media.importMedia(request)).rejects.toMatchObject({
    reason: "idempotency_conflict",
    retryAfterMs: 1000,
  });
  expect(performance.now() - started).toBeGreaterThanOrEqual(2000);
  expect(performance.now() - started).toBeLessThan(4000);
  expect(host.requests).toHaveLength(1);
  host.answer();
  expect(await first).toMatchObject({ replayed: false });
});

test("twenty concurrent imports with one idempotency key on three replicas create one item of media and one event", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const request = keyed(host.url);
  const before = await countObjects();
  const replicas = [importer, importer.startReplica(), importer.startReplica()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => replicas[index % 3]?.media.importMedia(request)),
  );
  expect(new Set(answers.map((answer) => answer?.media?.id)).size).toBe(1);
  expect(answers.filter((answer) => answer?.replayed === false)).toHaveLength(1);
  expect(await importer.remains(request.workspaceId)).toMatchObject({
    rows: 1,
    objects: before + 1,
  });
  const events = await importer.sql`
    select 1 from outbox where key = ${answers[0]?.media?.id ?? ""}`;
  expect(events).toHaveLength(1);
});

test("an import that loses its claim on the idempotency key during the download creates no media and leaves no object", async () => {
  await using host = await startSlowHost();
  const request = keyed(host.url);
  const before = await countObjects();
  const first = importer.media.importMedia(request);
  await eventually(() => host.requests.length === 1);
  await importer.sql`delete from import_claims where workspace_id = ${request.workspaceId}`;
  const second = importer.startReplica().media.importMedia(request);
  await eventually(() => host.requests.length === 2);
  host.answer();
  const answers = await Promise.all([first, second]);
  expect(answers[0].media).toEqual(answers[1].media);
  expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
  expect(await importer.remains(request.workspaceId)).toMatchObject({
    rows: 1,
    objects: before + 1,
    files: 0,
  });
});

test("an import renews its claim on the idempotency key while it runs and releases the claim when it ends", async () => {
  const { promise: checked, resolve: finish } = Promise.withResolvers<void>();
  const replica = importer.startReplica({
    inspect: async (path, declared) => {
      await checked;
      return await inspectFake(path, declared);
    },
  });
  await using host = await startHost((_request, response) => response.end(PNG));
  const request = keyed(host.url);
  const first = replica.media.importMedia(request);
  const leases = () => importer.sql<{ leaseUntil: Date }[]>`
    select lease_until from import_claims where workspace_id = ${request.workspaceId}`;
  const [begun] = await eventually(async () => {
    const found = await leases();
    return found.length > 0 && found;
  });
  await eventually(async () => ((await leases())[0]?.leaseUntil ?? 0) > (begun?.leaseUntil ?? 0));
  finish();
  await first;
  expect(await leases()).toHaveLength(0);
});

test("expired import claims are deleted and valid import claims are kept", async () => {
  const [dead, alive] = [newId(), newId()];
  for (const [workspaceId, age] of [
    [dead, "2 minutes"],
    [alive, "-5 seconds"],
  ] as const)
    await importer.sql`
      insert into import_claims (workspace_id, key, token, lease_until)
      values (${workspaceId}, 'key', ${newId()}, now() - ${age}::interval)`;

  expect(await deleteExpiredImportClaims(importer.sql, 1000)).toBe(1);
  const left = await importer.sql<
    { workspaceId: string }[]
  >`select workspace_id from import_claims`;
  expect(left.map(({ workspaceId }) => workspaceId)).toEqual([alive]);
});
