import { appLimitReached, type DeletionOutcome } from "@postrider/platforms/publishing/outcome";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  consume,
  createRpcClients,
  insertPublished,
  lastDeletion,
  listDeletionUpdates,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
  type TestTarget,
  untilStatus,
  openStage,
} from "./fixture.ts";

const never = new Promise<never>(() => undefined);
/** Only a crash or an outage repeats a deletion: no lease ends while a loaded machine is slow. */
const PATIENT = { settings: { leaseMs: 60_000 } };

async function publishOne(sql: Sql, target: TestTarget): Promise<string> {
  await request(sql, target);
  return await eventually(async () => (await readTask(sql, target)).externalId ?? false);
}

/** Starts a worker that has published one target on a platform of its own. */
async function openPublished() {
  const database = await openDatabase();
  const { sql } = database;
  const world = new World();
  const worker = startWorker(database, world, PATIENT);
  const target = world.addTarget();
  const id = await publishOne(sql, target);
  return {
    sql,
    world,
    target,
    id,
    [Symbol.asyncDispose]: async () => {
      await worker[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function expectDeletion(sql: Sql, target: TestTarget, status: string, errorCode?: string) {
  await eventually(async () =>
    expect(await lastDeletion(sql, target)).toMatchObject({ deletion: 1, status }),
  );
  expect((await lastDeletion(sql, target))?.errorCode).toBe(errorCode);
}

test("a published target is deleted once, however often its deletion is requested", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  const record = toDeletionRecord(target, id);

  await consume(sql, [record, record, toDeletionRecord(target, id)]);
  await expectDeletion(sql, target, "deleted");
  await consume(sql, [toDeletionRecord(target, id)]);

  const later = world.addTarget({ accountId: target.accountId });
  const laterId = await publishOne(sql, later);
  await consume(sql, [toDeletionRecord(later, laterId)]);
  await expectDeletion(sql, later, "deleted");
  expect(world.deletes.map(({ externalId }) => externalId)).toEqual([id, laterId]);
  expect(world.visible).toEqual([]);
  expect(await listDeletionUpdates(sql, target)).toHaveLength(1);
  // The publish task stays published, so its target is not published again and no other target
  // takes the same platform id.
  expect(await readTask(sql, target)).toMatchObject({ status: "published", externalId: id });
});

test("a deletion with an unknown outcome is repeated until the platform reports that the post is gone", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  const unknown = (): DeletionOutcome => ({ kind: "unknown", message: "reset" });
  world.deletionReactions = [unknown, unknown];

  await consume(sql, [toDeletionRecord(target, id)]);

  await expectDeletion(sql, target, "deleted");
  expect(await listDeletionUpdates(sql, target)).toMatchObject([
    { version: 2n, status: "deleting", errorCode: "platform_unavailable", errorRetryable: true },
    { version: 3n, status: "deleting", errorCode: "platform_unavailable", errorRetryable: true },
    { version: 4n, status: "deleted" },
  ]);
  expect(world.deletes).toHaveLength(3);
});

test("a deletion fails with the error code of its last retry, and a new deletion request starts the deletion again", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  world.deletionReactions = Array.from({ length: 4 }, () => () => ({
    kind: "unknown",
    message: "HTTP 503",
  }));

  await consume(sql, [toDeletionRecord(target, id)]);
  await expectDeletion(sql, target, "delete_failed", "platform_unavailable");
  await consume(sql, [toDeletionRecord(target, id, 2)]);

  await eventually(async () =>
    expect(await lastDeletion(sql, target)).toMatchObject({ deletion: 2, status: "deleted" }),
  );
  expect(world.deletes).toHaveLength(5);
});

test("a refusal by the platform ends a deletion at once, and the deletion reports the platform's message", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  world.deletionReactions = [
    () => ({ kind: "refused", code: "permission_missing", message: "not yours" }),
  ];

  await consume(sql, [toDeletionRecord(target, id)]);

  await expectDeletion(sql, target, "delete_failed", "permission_missing");
  expect(await lastDeletion(sql, target)).toMatchObject({
    errorMessage: "not yours",
    errorRetryable: false,
  });
});

test("a rate limit that the platform returns to a deletion stops all deletions of the account and does not count as a retry", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  const limit = {
    kind: "retryable",
    code: "rate_limited",
    message: "slow down",
    retryAfterMs: 300,
    isLimit: true,
  } as const;
  // The platform answers with more rate limits than there are retries.
  world.deletionReactions = Array.from({ length: 5 }, () => () => ({ ...limit, retryAfterMs: 30 }));
  world.deletionReactions.push(() => limit);

  await consume(sql, [toDeletionRecord(target, id)]);
  await eventually(() => world.deletes.length === 6);
  const [breaker] = await eventually(async () => {
    const rows = await sql<{ notBefore: Date }[]>`
      select not_before from account_breakers where account_id = ${target.accountId} and not_before > now()`;
    return rows.length > 0 && rows;
  });
  const next = world.addTarget({ accountId: target.accountId });
  await request(sql, next);

  await expectDeletion(sql, target, "deleted");
  await untilStatus(sql, next, "published");
  const [{ publishedAt } = { publishedAt: null }] = await sql<{ publishedAt: Date }[]>`
    select published_at from publish_tasks where target_id = ${next.targetId}`;
  expect(publishedAt?.getTime()).toBeGreaterThanOrEqual(breaker?.notBefore.getTime() ?? Infinity);
});

test("a limit of our app that refuses a deletion holds the other deletions of the account, and none of its publications, which it may not count", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  const second = world.addTarget({ accountId: target.accountId });
  const secondId = await publishOne(sql, second);
  world.deletionReactions = [() => appLimitReached("platform_quota", "units", 3_600_000)];
  await consume(sql, [toDeletionRecord(target, id), toDeletionRecord(second, secondId)]);
  await eventually(async () => {
    const waiting = await sql`
      select from deletion_tasks
      where status = 'queued'
      and wake_at > now() + interval '30 minutes'`;
    expect(waiting).toHaveLength(2);
  });
  const next = world.addTarget({ accountId: target.accountId });
  await request(sql, next);

  await untilStatus(sql, next, "published");
  expect(world.deletes).toHaveLength(1);
});

test.each([
  ["of our app", appLimitReached("platform_quota", "used up", 6 * 3_600_000)],
  [
    "of the account",
    {
      kind: "retryable",
      code: "rate_limited",
      message: "slow down",
      retryAfterMs: 6 * 3_600_000,
      isLimit: true,
    } as const,
  ],
])(
  "deletions that end before a limit %s does fail one after the other, and do not wait for it",
  async (_name, limit) => {
    await using database = await openStage();
    const { sql, world } = database;
    const { accountId } = world.addTarget();
    const targets = [world.addTarget({ accountId }), world.addTarget({ accountId })];
    await insertPublished(
      sql,
      targets.map((target) => ({ target, externalId: target.targetId })),
    );
    world.deletionReactions = [() => limit, () => limit];
    await consume(
      sql,
      targets.map((target) => toDeletionRecord(target, target.targetId)),
    );
    await sql`update deletion_tasks set created_at = now() - interval '23 hours'`;
    await using _worker = startWorker(database, world);

    for (const target of targets) await expectDeletion(sql, target, "delete_failed", limit.code);
    expect(world.deletes).toHaveLength(2);
  },
);

test.each([
  ["reconnect_required", "account_reconnect_required"],
  ["disconnected", "account_disconnected"],
])(
  "a deletion on an account that is %s fails with %s and sends no request to the platform",
  async (status, code) => {
    await using scene = await openPublished();
    const { sql, world, target, id } = scene;
    world.account(target).status = status;

    await consume(sql, [toDeletionRecord(target, id)]);

    await expectDeletion(sql, target, "delete_failed", code);
    expect(world.deletes).toEqual([]);
  },
);

test("a deletion renews a refused access token once, and the user must reconnect the account when the new token is refused too", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await using _worker = startWorker(database, world);
  const [renewed, dead] = [world.addTarget(), world.addTarget()];
  const ids = [await publishOne(sql, renewed), await publishOne(sql, dead)] as const;
  const refused = (): DeletionOutcome => ({ kind: "token_refused", message: "expired" });
  world.deletionReactions = [refused];

  await consume(sql, [toDeletionRecord(renewed, ids[0])]);
  await expectDeletion(sql, renewed, "deleted");
  expect(world.deletes.map(({ account }) => account.accessToken)).toEqual([
    "first-token",
    "second-token",
  ]);
  expect(world.reconnects).toEqual([]);

  world.deletionReactions = [refused, refused];
  await consume(sql, [toDeletionRecord(dead, ids[1])]);
  await expectDeletion(sql, dead, "delete_failed", "account_reconnect_required");
  expect(world.reconnects).toMatchObject([{ ref: { accountId: dead.accountId } }]);
});

test("a deletion without a known post id, a platform that deletes posts or a connector fails with an error that names the reason", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  world.canDelete = false;
  await using _worker = startWorker(database, world);
  const [nameless, unable, foreign] = [
    world.addTarget(),
    world.addTarget(),
    world.addTarget({ platform: "tiktok" }),
  ];

  await insertPublished(sql, [
    { target: unable, externalId: "id" },
    { target: foreign, externalId: "id" },
  ]);
  await consume(sql, [
    toDeletionRecord(nameless, ""),
    toDeletionRecord(unable, "id"),
    toDeletionRecord(foreign, "id"),
  ]);

  await expectDeletion(sql, nameless, "delete_failed", "account_action_needed");
  await expectDeletion(sql, unable, "delete_failed", "app_configuration");
  await expectDeletion(sql, foreign, "delete_failed", "platform_unavailable");
  expect(world.deletes).toEqual([]);
});

test("a deletion waits while the accounts service is unavailable, and the wait does not count as a retry", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  world.isUp.accounts = false;

  await consume(sql, [toDeletionRecord(target, id)]);
  await eventually(async () => {
    const [row] = await sql<{ fence: number }[]>`select fence from deletion_tasks`;
    return (row?.fence ?? 0) >= 2;
  });
  expect(await listDeletionUpdates(sql, target)).toEqual([]);
  world.isUp.accounts = true;

  await expectDeletion(sql, target, "deleted");
});

test("a deletion whose worker died in the platform call is repeated, and succeeds when the platform reports that the post is gone", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  const dying = startWorker(database, world);
  const id = await publishOne(sql, target);
  world.deletionReactions = [
    () => {
      world.visible.length = 0;
      return never;
    },
  ];
  await consume(sql, [toDeletionRecord(target, id)]);
  await eventually(() => world.deletes.length === 1);
  await dying.crash();

  await using _next = startWorker(database, world);

  await expectDeletion(sql, target, "deleted");
  expect(world.deletes).toHaveLength(2);
  expect(await listDeletionUpdates(sql, target)).toHaveLength(1);
});

test("a deletion whose worker was lost five times is given up", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await consume(sql, [toDeletionRecord(target, "id")]);
  await sql`update deletion_tasks set status = 'working', crash_count = 4, wake_at = now()`;

  await using _worker = startWorker(database, world);

  await expectDeletion(sql, target, "delete_failed", "internal_error");
  expect(world.deletes).toEqual([]);
});

test("a worker whose deletion task was claimed by another worker cannot record the result", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  const late = Promise.withResolvers<DeletionOutcome>();
  world.deletionReactions = [() => late.promise];
  const other = world.addTarget();
  await insertPublished(sql, [
    { target, externalId: "id" },
    { target: other, externalId: "other" },
  ]);
  await using _slow = startWorker(database, world);
  await consume(sql, [toDeletionRecord(target, "id")]);
  await eventually(() => world.deletes.length === 1);

  await using _next = startWorker(database, world);
  await expectDeletion(sql, target, "deleted");
  late.resolve({ kind: "refused", code: "permission_missing", message: "too late" });

  await consume(sql, [toDeletionRecord(other, "other")]);
  await expectDeletion(sql, other, "deleted");
  expect(await listDeletionUpdates(sql, target)).toHaveLength(1);
});

test("a deletion whose lease ended while its worker waited for the access token is sent once, by the worker that claimed it then", async () => {
  await using scene = await openPublished();
  const { sql, world, target, id } = scene;
  const token = Promise.withResolvers<void>();
  world.renewing = { accountId: target.accountId, ended: token.promise };
  await consume(sql, [toDeletionRecord(target, id)]);
  await eventually(
    async () => (await sql`select 1 from deletion_tasks where fence = 1`).length === 1,
  );
  world.renewing = undefined;
  await sql`update deletion_tasks set wake_at = now()`;
  await expectDeletion(sql, target, "deleted");
  token.resolve();

  const later = world.addTarget({ accountId: target.accountId });
  const laterId = await publishOne(sql, later);
  await consume(sql, [toDeletionRecord(later, laterId)]);
  await expectDeletion(sql, later, "deleted");
  expect(world.deletes.map(({ externalId }) => externalId)).toEqual([id, laterId]);
});

test("two workers run all deletions of an account one at a time", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountIds = [world.addTarget().accountId, world.addTarget().accountId];
  const targets = Array.from({ length: 20 }, (_, index) =>
    world.addTarget({ accountId: accountIds[index % 2] ?? "" }),
  );
  const running = new Map<string, number>();
  let most = 0;
  world.deletionReactions = targets.map(() => async () => {
    const { account } = world.deletes.at(-1) ?? { account: { externalId: "" } };
    const count = (running.get(account.externalId) ?? 0) + 1;
    running.set(account.externalId, count);
    most = Math.max(most, count);
    await Promise.resolve();
    running.set(account.externalId, count - 1);
    return { kind: "deleted" };
  });
  await using _one = startWorker(database, world, PATIENT);
  await using _other = startWorker(database, world, PATIENT);

  await insertPublished(
    sql,
    targets.map((target) => ({ target, externalId: target.targetId })),
  );
  await consume(
    sql,
    targets.map((target) => toDeletionRecord(target, target.targetId)),
  );

  for (const target of targets) await expectDeletion(sql, target, "deleted");
  expect(most).toBe(1);
  expect(world.deletes).toHaveLength(20);
});

test("a deletion waits until no lost publishing call of its target can still arrive at the platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await using _worker = startWorker(database, world);
  const target = world.addTarget();
  const id = await publishOne(sql, target);
  // An earlier publishing call of the target had no answer, and can still arrive at the platform.
  await sql`
    insert into publish_attempts (target_id, number, generation, workspace_id, account_id, fence, outcome, call_until)
    values (
      ${target.targetId}, 2, 1, ${target.workspaceId}, ${target.accountId}, 1, 'unknown', now() + interval '800 milliseconds'
    )`;
  await consume(sql, [toDeletionRecord(target, id)]);

  const [row] = await sql<{ isLate: boolean }[]>`
    select d.wake_at >= a.call_until as is_late
    from deletion_tasks d
    join publish_attempts a on a.target_id = d.target_id and a.number = 2`;
  expect(row?.isLate).toBe(true);
  await expectDeletion(sql, target, "deleted");
});

test.each<[string, (target: TestTarget, other: TestTarget) => readonly [TestTarget, string]]>([
  ["another post of the account", (target, other) => [target, other.targetId]],
  [
    "another account",
    (target, other) => [{ ...target, accountId: other.accountId }, target.targetId],
  ],
  ["another platform", (target) => [{ ...target, platform: "bluesky" }, target.targetId]],
  [
    "another workspace",
    (target, other) => [{ ...target, workspaceId: other.workspaceId }, target.targetId],
  ],
  [
    "a target that was not published",
    (target) => [{ ...target, targetId: target.accountId }, "id"],
  ],
])(
  "a deletion request that contains the id of %s deletes nothing and does not prevent a later deletion of the right post",
  async (_name, forge) => {
    await using database = await openStage();
    const { sql, world } = database;
    const target = world.addTarget();
    const other = world.addTarget();
    await insertPublished(sql, [
      { target, externalId: target.targetId },
      { target: other, externalId: other.targetId },
    ]);
    const connectors = { x: world.connector(), bluesky: world.connector("bluesky") };
    await using _worker = startWorker(database, world, { connectors });
    const [forged, externalId] = forge(target, other);
    await consume(sql, [toDeletionRecord(forged, externalId)]);
    await expectDeletion(sql, forged, "delete_failed", "internal_error");
    expect(world.deletes).toEqual([]);

    await consume(sql, [toDeletionRecord(target, target.targetId)]);
    await expectDeletion(sql, target, "deleted");
    expect(world.deletes).toMatchObject([{ externalId: target.targetId }]);
  },
);

test("BatchGetTargetStates returns the state of every deletion that its request names, and lists the named deletions that do not exist", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const { tasks } = createRpcClients(sql);
  const target = world.addTarget();
  const { workspaceId, targetId } = target;
  await insertPublished(sql, [{ target, externalId: "id" }]);
  await consume(sql, [toDeletionRecord(target, "id")]);
  const refs = [
    { workspaceId, targetId, deletion: 1 },
    { workspaceId, targetId, deletion: 2 },
    { workspaceId: target.postId, targetId, deletion: 1 },
    { workspaceId, targetId: "no id", deletion: 1 },
  ];

  const before = await tasks.batchGetTargetStates({ deletions: refs });
  expect(before.deletions).toMatchObject([{ deletion: 1, version: 1n, status: "deleting" }]);
  expect(before.unknownDeletions).toMatchObject([
    { deletion: 2 },
    { workspaceId: target.postId },
    { targetId: "no id" },
  ]);

  await using _worker = startWorker(database, world);
  await expectDeletion(sql, target, "deleted");
  const after = await tasks.batchGetTargetStates({ deletions: refs.slice(0, 1) });
  expect(after.deletions).toEqual([await lastDeletion(sql, target)]);
});
