import type { DeletionOutcome } from "@postrider/platforms/publishing/outcome";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  consume,
  insertPublished,
  lastDeletion,
  startWorker,
  toDeletionRecord,
  openStage,
} from "./fixture.ts";

/**
 * Deletes two posts at once. The deletion that begins first has the given outcome, the other one
 * succeeds. The leases are so long that no deletion is repeated during a test.
 *
 * @param until How the deletion that begins first ends.
 */
async function deleteBoth(outcome: DeletionOutcome, until: object, fault?: string) {
  await using database = await openStage();
  const { sql, world } = database;
  const posts = ["id-1", "id-2"].map((externalId) => ({ target: world.addTarget(), externalId }));
  await insertPublished(sql, posts);
  if (fault !== undefined)
    await database.migrationSql.unsafe(
      `alter table deletion_tasks add constraint fault check (${fault})`,
    );
  // Both outcomes are known at the same time, so that they are recorded together.
  const both = Promise.withResolvers<void>();
  const answer = (own: DeletionOutcome, isLast: boolean) => async () => {
    if (isLast) both.resolve();
    await both.promise;
    return own;
  };
  world.deletionReactions = [answer(outcome, false), answer({ kind: "deleted" }, true)];
  await using _worker = startWorker(database, world, { settings: { leaseMs: 60_000 } });
  await consume(
    sql,
    posts.map(({ target, externalId }) => toDeletionRecord(target, externalId)),
  );

  await both.promise;
  for (const { target, externalId } of posts) {
    const isFirst = externalId === world.deletes[0]?.externalId;
    await eventually(async () =>
      expect(await lastDeletion(sql, target)).toMatchObject(
        isFirst ? until : { status: "deleted" },
      ),
    );
  }
  expect(world.deletes).toHaveLength(2);
}

test.each([
  ["half an emoji", "\u{1F6AB}".slice(0, 1)],
  ["the character U+0000", "\0"],
])(
  "a refused deletion whose message contains %s fails with the platform's code, and another deletion that ends at the same time is recorded",
  async (_what, character) => {
    await deleteBoth(
      { kind: "refused", code: "account_action_needed", message: `not allowed${character}` },
      {
        status: "delete_failed",
        errorCode: "account_action_needed",
        errorMessage: "the platform's message could not be stored",
      },
    );
  },
);

test("a deletion waits at most a day, even if the platform asks for longer, and another deletion of the same batch is recorded", async () => {
  const failure = { kind: "retryable", code: "platform_unavailable", message: "" } as const;
  await deleteBoth(
    { ...failure, retryAfterMs: Number.MAX_VALUE },
    { status: "deleting", errorCode: "platform_unavailable" },
  );
});

test("a deletion whose result the database refuses to record fails with internal_error, and another deletion of the same batch is recorded", async () => {
  await deleteBoth(
    { kind: "refused", code: "account_action_needed", message: "no" },
    { status: "delete_failed", errorCode: "internal_error" },
    "error_code is distinct from 'account_action_needed'",
  );
});

test("a worker that lost the lease of a deletion does not overwrite the next worker's result, even if both end at once in one process", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await insertPublished(sql, [{ target, externalId: "id-1" }]);
  const [first, second] = [
    Promise.withResolvers<DeletionOutcome>(),
    Promise.withResolvers<DeletionOutcome>(),
  ];
  world.deletionReactions = [() => first.promise, () => second.promise];
  await using _worker = startWorker(database, world, { settings: { leaseMs: 60_000 } });
  await consume(sql, [toDeletionRecord(target, "id-1")]);
  await eventually(() => world.deletes.length === 1);
  await sql`update deletion_tasks set wake_at = now()`;
  await eventually(() => world.deletes.length === 2);

  second.resolve({ kind: "deleted" });
  first.resolve({ kind: "refused", code: "account_action_needed", message: "no" });

  const recorded = await eventually(async () => (await lastDeletion(sql, target)) ?? false);
  expect(recorded).toMatchObject({ status: "deleted" });
});
