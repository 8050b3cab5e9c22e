import { judgeMatchingPosts } from "@postrider/platforms/publishing/search";
import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import { facebookAt } from "@postrider/platforms/test/facebook/facebook-at";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createXPublishingConnector } from "@postrider/platforms/x/publishing/connector";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { exportRows, openImport } from "@postrider/shared/testing/workspace-import";
import { expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { releaseImportedTasks, stopImport } from "#src/publishing/db/workspace-import.ts";
import { nudgeWorkers } from "../nudges.ts";
import { addTargetOf } from "./add-target-of.ts";
import {
  type World,
  consume,
  insertPublished,
  lastDeletion,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  untilStatus,
  type Reaction,
  type TestTarget,
  openStage,
} from "./fixture.ts";

const QUICK = { visibleCallMs: 250, leaseMs: 1_000 };
const EXTERNAL = "one-account-of-the-platform";

/**
 * Adds a target of a new workspace that has connected the same account of the platform as every
 * other one.
 */
function addShared(world: World, given: Partial<TestTarget> = {}): TestTarget {
  const target = world.addTarget({ text: "the same text", ...given });
  world.account(target).externalId = EXTERNAL;
  return target;
}

const lostCall: Reaction = () => ({ kind: "unknown", message: "timeout" });

/** A search of the platform that finds the posts of the account that no target owns. */
function searchOf(world: World) {
  return async (call: UnknownCall): Promise<Verdict> => {
    const ids = world.visible.map(({ id }) => id);
    const owned = await call.isOwned(ids);
    const found = ids.find((id) => !owned.has(id));
    return found === undefined
      ? { kind: "absent" }
      : { kind: "present", externalId: found, permalink: null };
  };
}

test("a target whose publishing call was lost does not adopt the post of another workspace on the same account of the platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await using _worker = startWorker(database, world, { settings: QUICK });
  const first = addShared(world);
  await request(sql, first);
  await untilStatus(sql, first, "published");

  const second = addShared(world);
  world.reactions = [lostCall];
  world.verdicts = [searchOf(world)];
  await request(sql, second);
  await untilStatus(sql, second, "published");

  const ids = [await readTask(sql, first), await readTask(sql, second)].map(
    ({ externalId }) => externalId,
  );
  expect(ids).toEqual(["id-1", "id-2"]);
  expect(world.visible).toHaveLength(2);
});

/**
 * Publishes a target without an id, and another one of the account of the platform, whose
 * publishing call is lost.
 */
async function publishWithoutId(
  sql: Sql,
  world: World,
): Promise<{ readonly first: TestTarget; readonly second: TestTarget }> {
  const first = addShared(world);
  const askLater = { publishId: "1" };
  world.reactions = [
    (_call, _guard, make) => ({ ...make(), externalId: null, askLater }),
    lostCall,
  ];
  await request(sql, first);
  await untilStatus(sql, first, "published");
  const second = addShared(world);
  const search = async (call: UnknownCall): Promise<Verdict> => {
    const posts = world.visible.map(({ id }) => ({ id, permalink: null }));
    return await judgeMatchingPosts(posts, second, call, [3_600_000]);
  };
  world.verdicts = [search, search];
  await request(sql, second);
  return { first, second };
}

test("a target whose publishing call was lost does not adopt a published post whose id the platform has not returned yet", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const connectors = { x: { ...world.connector(), givesIdsLater: true } as const };
  await using _worker = startWorker(database, world, { settings: QUICK, connectors });
  const { first, second } = await publishWithoutId(sql, world);
  const untilLooks = async (count: number) => {
    await eventually(() => expect(world.looks).toHaveLength(count));
    expect(await untilStatus(sql, second, "unknown")).toMatchObject({ externalId: null });
  };
  await untilLooks(1);

  await sql`update publish_tasks set external_id = 'id-1' where target_id = ${first.targetId}`;
  await wake(sql, second);
  await untilLooks(2);
});

test("on a platform that returns the id of each post at once, a search does not ask for posts without an id", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await using _worker = startWorker(database, world, { settings: QUICK });
  const { second } = await publishWithoutId(sql, world);
  expect(await untilStatus(sql, second, "published")).toMatchObject({ externalId: "id-1" });
});

test("a target does not adopt a post of another workspace for which no account of the platform is recorded", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const first = addShared(world);
  world.make(first);
  await insertPublished(sql, [{ target: first, externalId: "id-1" }]);
  await using _worker = startWorker(database, world, { settings: QUICK });
  const second = addShared(world);
  world.reactions = [lostCall];
  world.verdicts = [searchOf(world)];
  await request(sql, second);
  await untilStatus(sql, second, "published");
  expect(await readTask(sql, second)).toMatchObject({ externalId: "id-2" });
});

test("two workspaces never have an open publishing call with the same content on the same account of the platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [first, second] = [addShared(world), addShared(world)];
  const other = addShared(world, { text: "another text" });
  world.reactions = [lostCall];
  world.verdicts = [() => ({ kind: "look_again", afterMs: 3_600_000 }), () => ({ kind: "absent" })];
  await using _worker = startWorker(database, world, { settings: QUICK });
  await request(sql, first);
  await eventually(() => expect(world.looks).toHaveLength(1));
  await request(sql, second, other);
  await untilStatus(sql, other, "published");
  await untilResting(sql, second);
  expect(world.calls.map(({ targetId }) => targetId)).toEqual([first.targetId, other.targetId]);

  await wake(sql, first);
  await untilStatus(sql, first, "published");
  await wake(sql, second);
  await untilStatus(sql, second, "published");
  expect(world.visible).toHaveLength(3);
});

async function wake(sql: Sql, target: TestTarget): Promise<void> {
  await sql`update publish_tasks set wake_at = now() where target_id = ${target.targetId}`;
  nudgeWorkers(sql);
}

/** Waits until a claim has made the task wait for an open call with the same content. */
async function untilResting(sql: Sql, target: TestTarget): Promise<void> {
  await eventually(async () => {
    const [task] = await sql<{ isResting: boolean }[]>`
      select status = 'queued' and wake_at > now() + interval '30 seconds' as is_resting
      from publish_tasks
      where target_id = ${target.targetId}`;
    expect(task).toEqual({ isResting: true });
  });
}

test.each(["the same account", "an account of another workspace"])(
  "a target whose content has an open call on %s is prepared once, and not again before that call has ended",
  async (where) => {
    await using database = await openStage();
    const { sql, world } = database;
    const first = addShared(world);
    const second = addShared(
      world,
      where === "the same account"
        ? { accountId: first.accountId, workspaceId: first.workspaceId }
        : {},
    );
    const prepared: string[] = [];
    const run: PrepareStep["run"] = ({ targetId }) => {
      prepared.push(targetId);
      return Promise.resolve({ made: "yes" });
    };
    world.prepare = [{ name: "prepare", isOwn: true, isDone: () => false, run }];
    world.reactions = [lostCall];
    world.verdicts = [
      () => ({ kind: "look_again", afterMs: 3_600_000 }),
      () => ({ kind: "present", externalId: "id-of-first", permalink: null }),
    ];
    await using _worker = startWorker(database, world, { settings: QUICK });
    await request(sql, first);
    await eventually(() => expect(world.looks).toHaveLength(1));
    await request(sql, second);

    for (let round = 0; round < 3; round += 1) {
      await untilResting(sql, second);
      await wake(sql, second);
    }
    await untilResting(sql, second);
    expect(prepared).toEqual([first.targetId, second.targetId]);

    await wake(sql, first);
    await untilStatus(sql, first, "published");
    await wake(sql, second);
    await untilStatus(sql, second, "published");
    expect(prepared).toEqual([first.targetId, second.targetId, second.targetId]);
  },
);

test("a search for a call without a recorded account of the platform waits while another workspace has an open call with the same content and account", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [old, current] = [addShared(world), addShared(world)];
  world.reactions = [lostCall, lostCall];
  world.verdicts = [() => ({ kind: "look_again", afterMs: 3_600_000 })];
  {
    await using _worker = startWorker(database, world, { settings: QUICK });
    await request(sql, old);
    await eventually(() => expect(world.looks).toHaveLength(1));
  }
  await sql`update publish_tasks set external_account_id = null where target_id = ${old.targetId}`;
  world.verdicts = [() => ({ kind: "look_again", afterMs: 3_600_000 }), searchOf(world)];
  await using _worker = startWorker(database, world, { settings: QUICK });
  await request(sql, current);
  await eventually(() => expect(world.looks).toHaveLength(2));
  await sql`update publish_tasks set wake_at = now() where target_id = ${old.targetId}`;
  const { fence } = await readTask(sql, old);
  await eventually(async () => {
    expect((await readTask(sql, old)).fence).toBeGreaterThan(fence + 1);
  });
  expect(world.looks).toHaveLength(2);
});

test("the deletion of a target does not delete a post that another workspace published earlier on the same account of the platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await using _worker = startWorker(database, world, { settings: QUICK });
  const owner = addShared(world);
  await request(sql, owner);
  await untilStatus(sql, owner, "published");
  // The target of another workspace has the id of the owner's post.
  const adopter = addShared(world, { text: "another text" });
  await request(sql, adopter);
  await untilStatus(sql, adopter, "published");
  await sql`update publish_tasks set external_id = 'id-1' where target_id = ${adopter.targetId}`;

  await consume(sql, [toDeletionRecord(adopter, "id-1")]);
  const refused = await eventually(async () => {
    const update = await lastDeletion(sql, adopter);
    if (update === undefined) throw new Error("the deletion has not ended");
    return update;
  });
  expect(refused).toMatchObject({ status: "delete_failed", errorCode: "internal_error" });
  expect(world.deletes).toEqual([]);

  await consume(sql, [toDeletionRecord(owner, "id-1")]);
  await eventually(async () => {
    expect(await lastDeletion(sql, owner)).toMatchObject({ status: "deleted" });
  });
});

interface Claim {
  readonly isOpen: boolean;
  readonly isCopy: boolean;
  /** Whose target has an attempt with the id of the post; none: the task has the id itself. */
  readonly attemptOf: "none" | "own" | "another's";
}

/**
 * Imports an export of another account that says that a target published a post on the shared
 * account long ago, or that it may still be published and has the id of the post.
 */
async function importClaim(
  sql: Sql,
  { world, externalId, victim }: { world: World; externalId: string; victim: TestTarget },
  { isOpen, isCopy, attemptOf }: Claim,
): Promise<void> {
  await using source = await openDatabase();
  const forger = world.addTarget();
  await insertPublished(source.sql, [{ target: forger, externalId }]);
  await source.sql`
    update publish_tasks
    set external_account_id = ${EXTERNAL}, published_at = '2020-01-01'`;
  if (isOpen) await source.sql`update publish_tasks set status = 'queued', published_at = null`;
  if (attemptOf !== "none") {
    const { targetId } = attemptOf === "own" ? forger : victim;
    await source.sql`update publish_tasks set external_id = null`;
    await source.sql`
      insert into publish_attempts (target_id, number, generation, workspace_id, account_id, fence, external_id)
      values (${targetId}, 9, ${forger.generation}, ${forger.workspaceId}, ${forger.accountId}, 0, ${externalId})`;
  }
  const rows = await exportRows(source.sql, EXPORTED_TABLES, forger.workspaceId);
  const given = openImport({
    sql,
    tables: EXPORTED_TABLES,
    prepare: stopImport,
    release: (workspaceId, asCopy) => releaseImportedTasks(sql, workspaceId, asCopy),
  });
  await given.prepare(forger.workspaceId);
  await given.importAll(forger.workspaceId, rows);
  await given.release(forger.workspaceId, isCopy);
}

test.each<Claim>([
  { isOpen: false, isCopy: false, attemptOf: "none" },
  { isOpen: true, isCopy: false, attemptOf: "none" },
  { isOpen: true, isCopy: true, attemptOf: "none" },
  { isOpen: true, isCopy: false, attemptOf: "own" },
  { isOpen: true, isCopy: true, attemptOf: "own" },
  { isOpen: false, isCopy: false, attemptOf: "another's" },
])(
  "an export that names the posts of another workspace's account keeps that workspace neither from deleting its posts nor from finding them (open: $isOpen, copy: $isCopy, attempt: $attemptOf)",
  async (claim) => {
    await using database = await openStage();
    const { sql, world } = database;
    const earlier = addShared(world, { text: "another text" });
    await using _worker = startWorker(database, world, { settings: QUICK });
    await request(sql, earlier);
    await untilStatus(sql, earlier, "published");
    await importClaim(sql, { world, externalId: "id-2", victim: earlier }, claim);
    const target = addShared(world);
    world.reactions = [(_call, _guard, make) => (make(), { kind: "unknown", message: "timeout" })];
    world.verdicts = [searchOf(world)];
    await request(sql, target);
    await untilStatus(sql, target, "published");
    expect(await readTask(sql, target)).toMatchObject({ externalId: "id-2" });
    expect(world.visible).toHaveLength(2);

    await consume(sql, [toDeletionRecord(target, "id-2")]);
    await eventually(async () => {
      expect(await lastDeletion(sql, target)).toMatchObject({ status: "deleted" });
    });
  },
);

const platforms = {
  x: await startTestPlatform("x"),
  facebook: await startTestPlatform("facebook"),
};
const connectors = {
  x: createXPublishingConnector({ baseUrl: platforms.x.url, mayResend: true }),
  // Only a search of the Page shows how a call ended that creates a post and makes it visible at
  // once.
  facebook: facebookAt(platforms.facebook.url, { isTwoPhase: false }),
};
const SIMULATED = { leaseMs: 1_000, visibleCallMs: 500, reconcileTimeScale: 0.001 };

test.each(["x", "facebook"] as const)(
  "two workspaces that have connected the same %s account publish the same text, and the lost call of one does not adopt the post of the other",
  async (name) => {
    const platform = platforms[name];
    await using database = await openStage();
    const { sql, world } = database;
    await using _worker = startWorker(database, world, { settings: SIMULATED, connectors });
    const publication = await platform.createPublication([], "the same words");
    const [first, second] = [
      addTargetOf(world, publication, { platform: name, media: [] }),
      addTargetOf(world, publication, { platform: name, media: [] }),
    ];
    await request(sql, first);
    await untilStatus(sql, first, "published");
    await platform.addFault("publish", "drop_before");
    await request(sql, second);
    await eventually(async () =>
      expect((await readTask(sql, second)).status).toMatch(/^(published|failed)$/u),
    );
    const { externalId } = await readTask(sql, first);
    expect((await readTask(sql, second)).externalId).not.toBe(externalId);
  },
);
