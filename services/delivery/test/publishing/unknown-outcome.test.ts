import { randomUUID } from "node:crypto";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  lastUpdate,
  listAttempts,
  listUpdates,
  openDatabase,
  readTask,
  request,
  startWorker,
  World,
  type Reaction,
  untilStatus,
} from "./fixture.ts";
import { runTarget } from "./run-target.ts";

const QUICK = { visibleCallMs: 250, leaseMs: 1_000 };

/** Reaction of a platform that publishes the post and whose answer is lost. */
const lostAnswer: Reaction = (_call, _guard, make) => {
  make();
  return { kind: "unknown", message: "reset" };
};
/** Reaction of a platform that publishes nothing and whose answer is lost. */
const lostCall: Reaction = () => ({ kind: "unknown", message: "timeout" });
const absent = () => ({ kind: "absent" }) as const;

test("an unknown outcome of a publishing call is reported, and a search of the platform after call_until, the deadline of the call, finds the post", async () => {
  await using run = await runTarget(
    "published",
    {
      reactions: [lostAnswer],
      verdicts: [() => ({ kind: "present", externalId: "id-1", permalink: null })],
    },
    QUICK,
  );
  const { sql, target, world } = run;
  expect(await listUpdates(sql, target)).toMatchObject([
    { status: "publishing", errorCode: "outcome_unknown", attempt: { outcome: "unknown" } },
    { status: "published", externalId: "id-1", attempt: { number: 1, outcome: "published" } },
  ]);
  expect(world.visible).toHaveLength(1);
  const [look] = world.looks;
  expect(look?.now.getTime()).toBeGreaterThanOrEqual(look?.callUntil.getTime() ?? Infinity);
});

test("a target whose publishing call has an outcome that cannot be determined fails with outcome_unknown and is never sent again", async () => {
  await using run = await runTarget("failed", { reactions: [lostAnswer] }, QUICK);
  const { sql, target, world } = run;
  expect(await lastUpdate(sql, target)).toMatchObject({
    status: "failed",
    errorCode: "outcome_unknown",
    errorRetryable: false,
    attemptCount: 1,
  });
  expect(world.visible).toHaveLength(1);
});

test("a target is sent once more without a new publish request when a search proves that its publishing call published nothing", async () => {
  await using run = await runTarget(
    "published",
    { reactions: [lostCall], verdicts: [absent] },
    QUICK,
  );
  const { sql, target } = run;
  expect(await readTask(sql, target)).toMatchObject({ resendCount: 1, generation: 1 });
  expect(await listAttempts(sql, target)).toMatchObject([
    { number: 1, outcome: "unknown" },
    { number: 2, outcome: "published" },
  ]);
});

test("after a second unknown outcome, the platform is searched for posts since the first publishing call, and the target is not sent a third time", async () => {
  await using run = await runTarget(
    "failed",
    { reactions: [lostCall, lostCall], verdicts: [absent, absent] },
    QUICK,
  );
  const { sql, target, world } = run;
  expect(await lastUpdate(sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
  expect(world.calls).toHaveLength(2);
  expect(world.looks[1]?.calledAt).toEqual(world.looks[0]?.calledAt);
});

test("when the platform refuses a resent post as a duplicate, a search finds the earlier post, and the target is published under its id", async () => {
  await using run = await runTarget(
    "published",
    {
      reactions: [
        lostAnswer,
        () => ({ kind: "refused", code: "duplicate_on_platform", message: "duplicate" }),
      ],
      verdicts: [absent, () => ({ kind: "present", externalId: "id-1", permalink: null })],
    },
    QUICK,
  );
  const { sql, target, world } = run;
  expect(await readTask(sql, target)).toMatchObject({ externalId: "id-1" });
  expect(world.visible).toHaveLength(1);
});

test("a target ends as duplicate_on_platform if its platform refuses every call as a duplicate, although no call published the post", async () => {
  const duplicate: Reaction = () => ({
    kind: "refused",
    code: "duplicate_on_platform",
    message: "duplicate",
  });
  const unpublished = () => ({ kind: "absent", isOwnFlag: true }) as const;
  await using run = await runTarget(
    "failed",
    {
      maxResends: Number.MAX_SAFE_INTEGER,
      reactions: [lostCall, ...Array.from({ length: 50 }, () => duplicate)],
      verdicts: Array.from({ length: 50 }, () => unpublished),
    },
    QUICK,
  );
  const { sql, target, world } = run;
  expect(await lastUpdate(sql, target)).toMatchObject({ errorCode: "duplicate_on_platform" });
  expect(world.calls).toHaveLength(2);
});

test("a target fails when a search proves that it was not published and its connector may not send it again", async () => {
  await using run = await runTarget(
    "failed",
    { maxResends: 0, reactions: [lostCall], verdicts: [absent] },
    QUICK,
  );
  const { world } = run;
  expect(world.calls).toHaveLength(1);
});

test("a publishing call that is safe to repeat is repeated with the same idempotency key", async () => {
  let made = 0;
  await using run = await runTarget(
    "published",
    {
      prepare: [
        {
          name: "key",
          isDone: ({ key }) => key !== undefined,
          run: () => Promise.resolve({ key: `key-${(made += 1)}` }),
        },
      ],
      maxResends: Number.MAX_SAFE_INTEGER,
      reactions: [lostCall, lostCall],
      verdicts: [() => ({ kind: "repeat" }), () => ({ kind: "repeat" })],
    },
    QUICK,
  );
  const { world } = run;
  expect(world.calls.map(({ handles }) => handles.key)).toEqual(["key-1", "key-1", "key-1"]);
});

test("a repeated publishing call uses the values that the search returned for it", async () => {
  await using run = await runTarget(
    "published",
    {
      reactions: [lostCall],
      verdicts: [() => ({ kind: "repeat", handles: { upload: "from the last byte" } })],
      maxResends: 5,
    },
    QUICK,
  );
  expect(run.world.calls.map(({ handles }) => handles.upload)).toEqual([
    undefined,
    "from the last byte",
  ]);
});

test("a target fails with outcome_unknown when a repeated publishing call fails, because the first call may have published it", async () => {
  await using run = await runTarget(
    "failed",
    {
      reactions: [
        lostAnswer,
        () => ({ kind: "refused", code: "account_action_needed", message: "suspended" }),
      ],
      verdicts: [() => ({ kind: "repeat" })],
      maxResends: 5,
    },
    QUICK,
  );
  const { sql, target } = run;
  expect(await lastUpdate(sql, target)).toMatchObject({
    errorCode: "outcome_unknown",
    errorMessage: "account_action_needed: suspended",
    errorRetryable: false,
  });
});

test("an incomplete search of a platform, which could not read all posts, does not raise the counted number of searches for the target's post", async () => {
  await using run = await runTarget(
    "published",
    {
      reactions: [lostCall],
      verdicts: [
        () => ({ kind: "look_again", afterMs: 10 }),
        () => ({ kind: "look_again", afterMs: 10, isIncomplete: true }),
        () => ({ kind: "look_again", afterMs: 10 }),
        absent,
      ],
    },
    QUICK,
  );
  const { world } = run;
  expect(world.looks.map(({ looks }) => looks)).toEqual([0, 1, 1, 2]);
});

test("a search of a platform ignores posts whose ids belong to other targets", async () => {
  await using database = await openDatabase();
  const world = new World();
  const accountId = randomUUID();
  const earlier = world.addTarget({ accountId });
  const target = world.addTarget({ accountId });
  await using _worker = startWorker(database, world, { settings: QUICK });
  await request(database.sql, earlier);
  await untilStatus(database.sql, earlier, "published");
  let owned: ReadonlySet<string> | undefined;
  world.reactions = [lostAnswer];
  world.verdicts = [
    async (call) => {
      owned = await call.isOwned(["id-1", "id-2"]);
      return { kind: "present", externalId: "id-2", permalink: null };
    },
  ];

  await request(database.sql, target);

  await untilStatus(database.sql, target, "published");
  expect(owned).toEqual(new Set(["id-1"]));
});

test("a later publish request of a target does not start while an earlier one may have published the post", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = [lostAnswer];
  const settled = Promise.withResolvers<void>();
  world.verdicts = [
    () => ({ kind: "look_again", afterMs: 300 }),
    async () => {
      await settled.promise;
      return { kind: "present", externalId: "id-1", permalink: null };
    },
  ];
  const target = world.addTarget({ keepsOlder: true });
  await using _worker = startWorker(database, world, { settings: QUICK });
  await request(database.sql, target);
  await eventually(() => world.looks.length === 1);

  target.generation = 2;
  await request(database.sql, target);
  await eventually(() => world.looks.length === 2);
  expect((await readTask(database.sql, target, 2)).status).toBe("queued");
  settled.resolve();

  await eventually(async () => (await readTask(database.sql, target, 1)).status === "published");
  await eventually(async () => (await readTask(database.sql, target, 2)).status === "dropped");
  expect(world.visible).toHaveLength(1);
});

test("two targets with the same text on one account never have open publishing calls at the same time", async () => {
  await using database = await openDatabase();
  const world = new World();
  const accountId = randomUUID();
  const first = world.addTarget({ accountId, text: "the same  words", dueAt: new Date(1) });
  const second = world.addTarget({ accountId, text: "the same words" });
  world.reactions = [lostAnswer];
  const settled = Promise.withResolvers<void>();
  world.verdicts = [
    async () => {
      await settled.promise;
      return { kind: "present", externalId: "id-1", permalink: null };
    },
  ];
  await using _worker = startWorker(database, world, { settings: QUICK });

  await request(database.sql, first, second);
  await eventually(() => world.looks.length === 1);
  expect(world.calls).toHaveLength(1);
  settled.resolve();

  await untilStatus(database.sql, second, "published");
  expect(world.visible.map(({ targetId }) => targetId)).toEqual([first.targetId, second.targetId]);
});

test("a rate limit on the publishing call stops publishing on the account, and sending the call again afterwards does not count as a resend", async () => {
  await using run = await runTarget(
    "published",
    {
      maxResends: 0,
      reactions: [() => ({ kind: "unknown", message: "HTTP 429", limitedForMs: 500 })],
      verdicts: [absent],
    },
    QUICK,
  );
  const { sql, target } = run;
  expect(await readTask(sql, target)).toMatchObject({ resendCount: 0 });
  const [row] = await sql<{ waitedMs: number }[]>`
    select extract(epoch from max(called_at) - min(called_at))::float8 * 1000 as waited_ms
    from publish_attempts`;
  expect(row?.waitedMs).toBeGreaterThan(450);
});
