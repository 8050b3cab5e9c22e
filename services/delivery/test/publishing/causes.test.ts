import { findContext } from "@postrider/shared/telemetry/request-context";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  consume,
  insertPublished,
  lastDeletion,
  lastUpdate,
  openDatabase,
  startWorker,
  toDeletionRecord,
  toRecord,
  World,
  type TestTarget,
} from "./fixture.ts";

const COUNT = 20;

/** Headers of the event that requests the target with this number. */
function causeOf(number: number) {
  const traceId = String(number + 1).padStart(32, "0");
  return { requestid: `request-${number}`, traceparent: `00-${traceId}-${"1".repeat(16)}-01` };
}

type Record = ReturnType<typeof toRecord>;

function causedBy({ headers, ...record }: Record, number: number): Record {
  return { ...record, headers: { ...headers, ...causeOf(number) } };
}

async function listCauses(
  { sql }: Awaited<ReturnType<typeof openDatabase>>,
  type: string,
  targets: readonly TestTarget[],
): Promise<readonly (readonly unknown[])[]> {
  const rows = await sql<{ key: string; headers: unknown }[]>`
    select key, headers
    from outbox
    where type = ${`postrider.delivery.v1.${type}`}
    order by id`;
  return targets.map(({ postId }) =>
    rows.filter(({ key }) => key === postId).map(({ headers }) => headers),
  );
}

test("events of targets that are claimed and recorded together each carry the id of the API request that led to the event", async () => {
  await using database = await openDatabase();
  const world = new World();
  const targets = Array.from({ length: COUNT }, () => world.addTarget());
  const seen: unknown[] = [];
  world.reactions = targets.map(() => (_call, _guard, make) => {
    seen.push(findContext());
    return make();
  });
  await consume(
    database.sql,
    targets.map((target, number) => causedBy(toRecord([target]), number)),
  );
  await using _worker = startWorker(database, world);

  for (const target of targets)
    await eventually(async () =>
      expect((await lastUpdate(database.sql, target))?.status).toBe("published"),
    );

  const causes = await listCauses(database, "TargetUpdated", targets);
  for (const [number, told] of causes.entries())
    expect(told, `target ${number}`).toEqual(told.map(() => causeOf(number)));
  expect(seen).toHaveLength(COUNT);
  expect(seen).toEqual(
    expect.arrayContaining(
      targets.map(({ workspaceId }, number) => {
        const { requestid: requestId, traceparent } = causeOf(number);
        return { requestId, traceparent, workspaceId };
      }),
    ),
  );
});

test("the event about a lost publishing call carries the id of the API request that led to the call", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  const { promise: called, resolve } = Promise.withResolvers<void>();
  world.reactions = [
    async () => {
      resolve();
      return await new Promise<never>(() => undefined);
    },
  ];
  await consume(database.sql, [causedBy(toRecord([target]), 7)]);
  const settings = { visibleCallMs: 200 };
  const lost = startWorker(database, world, { settings });
  await called;
  await lost.crash();
  await using _worker = startWorker(database, world, { settings });

  await eventually(async () => (await lastUpdate(database.sql, target)) !== undefined);

  const [told = []] = await listCauses(database, "TargetUpdated", [target]);
  expect(told).toEqual(told.map(() => causeOf(7)));
});

test("events about deletions each carry the id of the API request that led to the deletion", async () => {
  await using database = await openDatabase();
  const world = new World();
  const targets = Array.from({ length: COUNT }, () => world.addTarget());
  await insertPublished(
    database.sql,
    targets.map((target, number) => ({ target, externalId: `id-${number}` })),
  );
  await consume(
    database.sql,
    targets.map((target, number) => causedBy(toDeletionRecord(target, `id-${number}`), number)),
  );
  await using _worker = startWorker(database, world);

  for (const target of targets)
    await eventually(async () =>
      expect((await lastDeletion(database.sql, target))?.status).toBe("deleted"),
    );

  expect(await listCauses(database, "DeletionUpdated", targets)).toEqual(
    targets.map((_, number) => [causeOf(number)]),
  );
});

test("a target whose task was stored by an older release without a request id is published", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await consume(database.sql, [toRecord([target])]);
  await database.sql`update publish_tasks set cause = null`;
  await using _worker = startWorker(database, world);

  await eventually(async () =>
    expect((await lastUpdate(database.sql, target))?.status).toBe("published"),
  );
});
