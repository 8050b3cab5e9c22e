import { toJsonString } from "@bufbuild/protobuf";
import {
  TargetUpdatedSchema,
  type TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyTargetUpdates } from "#src/operations/apply-target-updates.ts";
import { attempt, deliveryOf, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { publishPost } from "./workspace.ts";

const posts = await startPostsForFile();

const publish = (targetCount: number) => publishPost(posts, targetCount);

const reread = (post: ShownPost) => posts.getPost(post.workspaceId, post.id);

/** Returns what the API shows of a post, without ids, the version and the times of changes. */
async function readState(post: ShownPost) {
  const { status, publishedAt, targets, attempts } = await reread(post);
  return {
    status,
    publishedAt,
    targets: targets.map(({ id: _id, accountId: _accountId, ...target }) => target),
    attempts: attempts.map(({ accountId: _accountId, ...rest }) => rest),
  };
}

const eventsOf = async (post: ShownPost) =>
  (await posts.events()).filter(([, event]) => event.postId === post.id).map(([name]) => name);

type Outcomes = readonly ("published" | "failed" | "reopened" | "retried")[];

/**
 * Returns all updates that the delivery service reports about the targets of a post, by the outcome
 * of each target.
 */
function reportsOf(post: ShownPost, outcomes: Outcomes): TargetUpdated[] {
  const update = deliveryOf(post);
  return outcomes.flatMap((kind, ordinal) => {
    const taken = update(ordinal, "publishing", { attemptCount: 0 });
    const unknown = {
      errorCode: "outcome_unknown",
      attemptCount: 1,
      attempt: attempt(1, "unknown", "outcome_unknown"),
    };
    switch (kind) {
      case "published":
        return [
          taken,
          update(ordinal, "published", { attemptCount: 1, attempt: attempt(1, "published") }),
        ];
      case "failed":
        return [
          taken,
          update(ordinal, "failed", {
            attemptCount: 1,
            attempt: attempt(1, "failed", "content_rejected"),
          }),
        ];
      case "retried":
        return [
          taken,
          update(ordinal, "publishing", {
            errorCode: "rate_limited",
            attemptCount: 1,
            attempt: attempt(1, "retry", "rate_limited"),
          }),
          update(ordinal, "published", { attemptCount: 2, attempt: attempt(2, "published") }),
        ];
      case "reopened":
        return [
          taken,
          update(ordinal, "failed", unknown),
          update(ordinal, "publishing", { attemptCount: 1 }),
          update(ordinal, "published", { attemptCount: 2, attempt: attempt(2, "published") }),
        ];
      default:
        return [];
    }
  });
}

const outcomeLists = fc.array(
  fc.constantFrom<Outcomes[number]>("published", "failed", "reopened", "retried"),
  { minLength: 1, maxLength: 5 },
);
const seeds = fc.infiniteStream(fc.nat({ max: 1_000_000 }));

/** Splits items into batches of random size, as the bus does. */
function inBatches<T>(items: readonly T[], next: () => number): T[][] {
  const batches: T[][] = [];
  for (let from = 0; from < items.length;) {
    const size = 1 + (next() % 4);
    batches.push(items.slice(from, from + size));
    from += size;
  }
  return batches;
}

function shuffle<T>(items: readonly T[], next: () => number): T[] {
  return items
    .map((item) => ({ item, key: next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

test("the state of a post does not depend on the order or repetition of the delivery service's reports", async () => {
  await fc.assert(
    fc.asyncProperty(outcomeLists, seeds, async (outcomes, random) => {
      const next = () => random.next().value;
      const [straight, mixed] = [await publish(outcomes.length), await publish(outcomes.length)];
      await posts.report(reportsOf(straight, outcomes));
      const updates = reportsOf(mixed, outcomes);
      const again = updates.filter(() => next() % 2 === 0);

      for (const batch of inBatches(shuffle([...updates, ...again], next), next))
        await posts.report(batch);

      expect(await readState(mixed)).toEqual(await readState(straight));
    }),
    { numRuns: 20 },
  );
});

test("the sweep job brings a post to its correct final state although a tenth of the delivery service's reports was lost", async () => {
  await fc.assert(
    fc.asyncProperty(outcomeLists, seeds, async (outcomes, random) => {
      const next = () => random.next().value;
      const [straight, gapped] = [await publish(outcomes.length), await publish(outcomes.length)];
      await posts.report(reportsOf(straight, outcomes));
      const updates = reportsOf(gapped, outcomes);
      for (const update of updates) posts.peers.tasks.set(update.targetId, update);

      const received = shuffle(updates, next).filter(() => next() % 10 > 0);
      for (const batch of inBatches(received, next)) await posts.report(batch);
      await posts.sweep();

      const [expected, actual] = [await readState(straight), await readState(gapped)];
      expect({ ...actual, attempts: [] }).toEqual({ ...expected, attempts: [] });
    }),
    { numRuns: 20 },
  );
});

test("repeated reports of the delivery service do not change the version, times and events of a post", async () => {
  const post = await publish(2);
  const updates = reportsOf(post, ["retried", "failed"]);
  await posts.report(updates);
  const [before, events] = [await reread(post), await eventsOf(post)];

  for (const update of updates.toReversed()) await posts.report([update]);
  await posts.report([...updates, ...updates]);

  expect(await reread(post)).toEqual(before);
  expect(await eventsOf(post)).toEqual(events);
  expect(events).toEqual(["PostPublishRequested", "PostPartial"]);
});

test("the version of a post rises only with changes that the API shows", async () => {
  const post = await publish(1);
  const update = deliveryOf(post);
  await posts.report([update(0, "publishing", { attemptCount: 0 })]);

  expect(await reread(post)).toEqual(post);

  await posts.report([update(0, "published", { attemptCount: 1 })]);
  expect(await reread(post)).toMatchObject({ version: 2n, status: "published" });
});

test("a failed post that turns out to have no outcome yet is publishing again, and an event announces its later outcome", async () => {
  const post = await publish(1);
  const [taken, unknown, reopened, published] = reportsOf(post, ["reopened"]);
  const received = [taken, unknown].flatMap((item) => item ?? []);
  await posts.report(received);
  expect((await reread(post)).status).toBe("failed");

  await posts.report([reopened].flatMap((item) => item ?? []));
  expect(await reread(post)).toMatchObject({
    status: "publishing",
    targets: [{ status: "publishing" }],
  });

  await posts.report([published].flatMap((item) => item ?? []));
  expect((await reread(post)).status).toBe("published");
  expect(await eventsOf(post)).toEqual(["PostPublishRequested", "PostFailed", "PostPublished"]);
});

test("the publication time of a post is the time of its first published target", async () => {
  const post = await publish(2);
  const update = deliveryOf(post);
  await posts.report([update(1, "published")]);
  await posts.report([update(0, "published")]);

  const { publishedAt, targets } = await reread(post);
  expect(publishedAt).toEqual(targets[0]?.publishedAt);
});

test("a post shows the newest 50 attempts of each target, oldest first", async () => {
  const post = await publish(2);
  const update = deliveryOf(post);
  await posts.report(
    Array.from({ length: 60 }, (_, index) =>
      update(0, "publishing", {
        attemptCount: index + 1,
        attempt: attempt(index + 1, "retry", "rate_limited"),
      }),
    ),
  );
  await posts.report([update(1, "published", { attempt: attempt(1, "published") })]);

  const numbers = (await reread(post)).attempts.map(({ number }) => number);
  expect(numbers).toEqual([...Array.from({ length: 50 }, (_, index) => index + 11), 1]);
});

const toRecord = (update: TargetUpdated) => ({
  key: update.postId,
  headers: {
    ce_id: `${update.targetId}-${update.version}`,
    ce_type: TargetUpdatedSchema.typeName,
    ce_time: new Date().toISOString(),
  },
  value: toJsonString(TargetUpdatedSchema, update),
});

test("a crash before the commit loses no target update, because the bus delivers the batch again", async () => {
  const post = await publish(1);
  const updates = reportsOf(post, ["published"]);
  const crash = posts.sql.begin(async (tx) => {
    await applyTargetUpdates(tx, updates);
    throw new Error("the process dies");
  });
  await expect(crash).rejects.toThrow("the process dies");
  expect(await reread(post)).toEqual(post);

  await posts.consume(updates.map(toRecord));

  expect((await reread(post)).status).toBe("published");
  expect(await eventsOf(post)).toEqual(["PostPublishRequested", "PostPublished"]);
});
