import { randomUUID } from "node:crypto";
import type { Outcome } from "@postrider/platforms/publishing/outcome";
import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import { expect, test } from "vitest";
import {
  lastUpdate,
  listAttempts,
  openDatabase,
  readTask,
  request,
  startWorker,
  untilStatus,
  World,
  openStage,
} from "./fixture.ts";

/**
 * The first of the two UTF-16 code units of an emoji, as `text.slice(0, n)` can leave it at the end
 * of a text.
 */
const HALF_EMOJI = "\u{1F6AB}".slice(0, 1);
const NOT_STORED = "the platform's message could not be stored";

/**
 * Requests the publication of two targets of one account. The publishing call of the first target
 * has the given outcome. Stops the worker when the first target has the given status and the second
 * target is published.
 */
async function publishBoth(
  outcome: Outcome,
  { status, fault }: { readonly status: "published" | "failed"; readonly fault?: string },
) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openDatabase());
  const { sql } = database;
  const world = new World();
  const accountId = randomUUID();
  const first = world.addTarget({ accountId, dueAt: new Date(Date.now() - 60_000) });
  const second = world.addTarget({ accountId });
  world.reactions = [() => outcome];
  if (fault !== undefined)
    await database.migrationSql.unsafe(
      `alter table publish_tasks add constraint fault check (${fault})`,
    );
  {
    await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
    await request(sql, first, second);
    await untilStatus(sql, first, status);
    await untilStatus(sql, second, "published");
  }
  const opened = stack.move();
  return { sql, world, first, second, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

test.each([
  ["half an emoji", HALF_EMOJI],
  ["the character U+0000", "\0"],
])(
  "a refusal whose message contains %s fails its target with the platform's code, and the next target of the account is published",
  async (_what, character) => {
    const message = `not allowed${character}`;
    const outcome = { kind: "refused", code: "content_rejected", message } as const;
    await using run = await publishBoth(outcome, { status: "failed" });
    const { sql, first } = run;

    expect(await lastUpdate(sql, first)).toMatchObject({
      status: "failed",
      errorCode: "content_rejected",
      errorMessage: NOT_STORED,
      attempt: { number: 1, outcome: "failed", code: "content_rejected", message: NOT_STORED },
    });
  },
);

test("a success whose link cannot be stored makes its target published, with the post id and without a link", async () => {
  const permalink = `https://example.test/${HALF_EMOJI}`;
  await using run = await publishBoth(
    { kind: "published", externalId: "id-7", permalink },
    { status: "published" },
  );
  const { sql, first } = run;

  const update = await lastUpdate(sql, first);
  expect(update).toMatchObject({ status: "published", externalId: "id-7" });
  expect(update?.permalink).toBeUndefined();
});

test("a retryable failure with which the platform asks for an impossibly long wait is retried after at most a day", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget({ publishBefore: new Date(Date.now() + 30 * 86_400_000) });
  const failure = { kind: "retryable", code: "platform_unavailable", message: "" } as const;
  world.reactions = [() => ({ ...failure, retryAfterMs: Number.MAX_VALUE })];
  await using _worker = startWorker(database, world);
  await request(sql, target);

  await untilStatus(sql, target, "queued");
  await expect
    .poll(async () => (await lastUpdate(sql, target))?.errorCode)
    .toBe("platform_unavailable");
  const nextAt = (await lastUpdate(sql, target))?.nextAttemptAt;
  expect(Number(nextAt?.seconds)).toBeLessThan(Date.now() / 1000 + 86_401);
});

test("a preparation step that fails with a message that the database cannot store ends its attempt and is tried again", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  let runs = 0;
  const step: PrepareStep = {
    name: "upload",
    isDone: () => runs > 1,
    run: () => {
      runs += 1;
      return Promise.resolve({ kind: "retryable", code: "platform_unavailable", message: "\0" });
    },
  };
  world.prepare = [step];
  await using _worker = startWorker(database, world);
  await request(sql, target);

  await untilStatus(sql, target, "published");
  expect(await listAttempts(sql, target)).toMatchObject([
    { number: 1, outcome: "retry" },
    { number: 2, outcome: "retry" },
    { number: 3, outcome: "published" },
  ]);
});

test("a platform's refusal that the database cannot store, even without its text, fails the target with internal_error and leaves the account open", async () => {
  await using run = await publishBoth(
    { kind: "refused", code: "content_rejected", message: "no" },
    { status: "failed", fault: "error_code is distinct from 'content_rejected'" },
  );
  const { sql, first } = run;

  expect(await readTask(sql, first)).toMatchObject({ errorCode: "internal_error" });
});

test("a success that the database refuses to record does not block the account or the stop of the process, and is recorded by a later worker", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountId = randomUUID();
  const first = world.addTarget({ accountId, dueAt: new Date(Date.now() - 60_000) });
  const second = world.addTarget({ accountId });
  await database.migrationSql.unsafe(`
    alter table publish_tasks
    add constraint fault check (target_id <> '${first.targetId}' or status <> 'published')`);
  {
    await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
    await request(sql, first, second);
    await untilStatus(sql, second, "published");
    await untilStatus(sql, first, "unknown");
  }
  expect(await listAttempts(sql, first)).toMatchObject([
    { outcome: "published", externalId: "id-1" },
  ]);
  await database.migrationSql`alter table publish_tasks drop constraint fault`;
  await sql`update publish_tasks set wake_at = now()`;
  await using _worker = startWorker(database, world);

  await untilStatus(sql, first, "published");
  expect(await readTask(sql, first)).toMatchObject({ externalId: "id-1" });
  expect(world.calls).toHaveLength(2);
});

test("a success whose row is damaged is kept, delays no other target, and is recorded once the row is repaired", async () => {
  await using database = await openDatabase();
  const { sql, migrationSql } = database;
  const world = new World();
  const [damaged, other] = [world.addTarget(), world.addTarget()];
  await migrationSql.unsafe(`
    create function fault() returns trigger language plpgsql as $$
    begin raise 'invalid page in block 7' using errcode = 'XX001'; end $$;
    create trigger fault before update on publish_tasks for each row
    when (new.target_id = '${damaged.targetId}' and old.status = 'calling')
    execute function fault()`);
  // Both calls end at the same time, so that their outcomes are recorded together.
  const both = Promise.withResolvers<void>();
  let calls = 0;
  const answer = async (): Promise<Outcome> => {
    calls += 1;
    const externalId = `id-${calls}`;
    if (calls === 2) both.resolve();
    await both.promise;
    return { kind: "published", externalId, permalink: null };
  };
  world.reactions = [answer, answer];
  await using _worker = startWorker(database, world);
  await request(sql, damaged, other);
  await both.promise;
  await untilStatus(sql, other, "published");

  await migrationSql`drop trigger fault on publish_tasks`;

  await untilStatus(sql, damaged, "published");
  expect(calls).toBe(2);
});
