import { create } from "@bufbuild/protobuf";
import {
  BatchGetPostStatusesResponseSchema,
  type BatchGetPostStatusesRequest,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { createPostWatcher } from "./post-watcher.ts";

const NEVER = new AbortController().signal;

/**
 * Simulates a posts service with one status for each post in `statuses`; any other post does not
 * exist.
 */
function startPosts(statuses: Map<string, string>) {
  const calls: number[] = [];
  let failures = 0;
  const client = {
    batchGetPostStatuses: async ({ refs = [] }: { refs?: unknown[] }) => {
      calls.push(refs.length);
      if (failures-- > 0) throw unavailable();
      const known = (refs as BatchGetPostStatusesRequest["refs"]).flatMap(({ workspaceId, id }) => {
        const status = statuses.get(id);
        return status === undefined ? [] : [{ ref: { workspaceId, id }, status }];
      });
      return await Promise.resolve(create(BatchGetPostStatusesResponseSchema, { statuses: known }));
    },
  };
  return { client, calls, failNext: (count: number) => (failures = count) };
}

test.each(["published", "partial", "failed", "cancelled"])(
  "a wait for a post ends when the post becomes %s, and not before",
  async (status) => {
    const statuses = new Map([["p", "publishing"]]);
    const { client, calls } = startPosts(statuses);
    let isOver = false;
    const wait = createPostWatcher(client)
      .untilFinal("w", "p", NEVER)
      .then(() => (isOver = true));
    await eventually(() => expect(calls.length).toBeGreaterThanOrEqual(3));
    expect(isOver).toBe(false);
    statuses.set("p", status);
    await wait;
  },
);

test("a wait for a post that is deleted or never existed ends", async () => {
  const statuses = new Map([["p", "scheduled"]]);
  const watcher = createPostWatcher(startPosts(statuses).client);
  const wait = watcher.untilFinal("w", "p", NEVER);
  await watcher.untilFinal("w", "unknown", NEVER);
  statuses.delete("p");
  await wait;
});

test("all waits for posts share one call per interval, and no call is made when no client waits", async () => {
  const statuses = new Map([["p", "draft"]]);
  const { client, calls } = startPosts(statuses);
  const watcher = createPostWatcher(client);
  const waits = Array.from({ length: 50 }, () => watcher.untilFinal("w", "p", NEVER));
  await eventually(() => expect(calls.length).toBeGreaterThanOrEqual(3));
  expect(Math.max(...calls)).toBe(1);
  statuses.set("p", "published");
  await Promise.all(waits);
  const { length } = calls;
  await watcher.untilFinal("w", "other", NEVER);
  expect(calls.length).toBe(length + 1);
});

test("a wait for a post continues after failed calls to the posts service", async () => {
  const statuses = new Map([["p", "published"]]);
  const posts = startPosts(statuses);
  posts.failNext(2);
  await createPostWatcher(posts.client).untilFinal("w", "p", NEVER);
  expect(posts.calls.length).toBe(3);
});

test("a wait for a post ends when its time is over, when its client disconnects, and when the gateway stops", async () => {
  const watcher = createPostWatcher(startPosts(new Map([["p", "draft"]])).client);
  await watcher.untilFinal("w", "p", AbortSignal.timeout(20));
  const gone = new AbortController();
  const left = watcher.untilFinal("w", "p", gone.signal);
  gone.abort();
  await left;
  const stopped = watcher.untilFinal("w", "p", NEVER);
  watcher.stop();
  await stopped;
  await watcher.untilFinal("w", "p", NEVER);
});

test("a request over the maximum number of waits for posts is refused until another wait ends", async () => {
  const watcher = createPostWatcher(startPosts(new Map([["p", "draft"]])).client, 1);
  const gone = new AbortController();
  const first = watcher.untilFinal("w", "p", gone.signal);
  await expect(watcher.untilFinal("w", "p", NEVER)).rejects.toMatchObject({
    reason: "unavailable",
  });
  gone.abort();
  await first;
  await watcher.untilFinal("w", "p", AbortSignal.timeout(5));
});

test("when all places are taken, a workspace with fewer waits for posts gets the place of the workspace with the most", async () => {
  const watcher = createPostWatcher(startPosts(new Map([["p", "draft"]])).client, 3);
  const gone = new AbortController();
  const waits = Array.from({ length: 3 }, () => watcher.untilFinal("flood", "p", gone.signal));
  const other = watcher.untilFinal("other", "p", gone.signal);
  await expect(waits[0]).rejects.toMatchObject({ reason: "unavailable" });
  await expect(watcher.untilFinal("flood", "p", gone.signal)).rejects.toMatchObject({
    reason: "unavailable",
  });
  gone.abort();
  await Promise.all([...waits.slice(1), other]);
});

test("a workspace that waits for thousands of posts is asked for rarely, and another workspace's post as often as without it", async () => {
  const asked = { flood: 0, other: 0 };
  const client = {
    batchGetPostStatuses: async ({ refs = [] }: { refs?: unknown[] }) => {
      const known = refs as BatchGetPostStatusesRequest["refs"];
      for (const { workspaceId, id } of known) {
        if (workspaceId === "other") asked.other += 1;
        if (id === "p0") asked.flood += 1;
      }
      const statuses = known.map((ref) => ({ ref, status: "draft" }));
      return await Promise.resolve(create(BatchGetPostStatusesResponseSchema, { statuses }));
    },
  };
  const watcher = createPostWatcher(client);
  const gone = new AbortController();
  const waits = Array.from({ length: 5_000 }, (_, index) =>
    watcher.untilFinal("flood", `p${index}`, gone.signal),
  );
  waits.push(watcher.untilFinal("other", "q", gone.signal));
  await eventually(() => expect(asked.other).toBeGreaterThanOrEqual(6));
  expect(asked.flood).toBeLessThanOrEqual(2);
  gone.abort();
  await Promise.all(waits);
});
