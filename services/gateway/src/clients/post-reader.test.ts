import { setImmediate as nextTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  BatchGetPostsResponseSchema,
  type BatchGetPostsRequest,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { expect, test } from "vitest";
import { createPostReader } from "#src/clients/post-reader.ts";

type Answer = (
  refs: BatchGetPostsRequest["refs"],
) => readonly { readonly workspaceId: string; readonly id: string }[];

function createReader(answer: Answer) {
  const sizes: number[] = [];
  const reader = createPostReader({
    batchGetPosts: async ({ refs = [] }) => {
      sizes.push(refs.length);
      return await Promise.resolve(
        create(BatchGetPostsResponseSchema, {
          posts: [...answer(refs as BatchGetPostsRequest["refs"])],
        }),
      );
    },
  });
  return { reader, sizes };
}

test("reads of posts in the same turn of the event loop share one call, and each read gets its own post", async () => {
  const { reader, sizes } = createReader((refs) => refs.toReversed());
  const reads = Array.from({ length: 250 }, (_unused, index) => reader.get("w", `p${index}`, "en"));
  expect((await Promise.all(reads)).map(({ id }) => id)).toEqual(
    Array.from({ length: 250 }, (_unused, index) => `p${index}`),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(250);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect(sizes.length).toBeLessThanOrEqual(3);
});

test("a full batch of post reads is not followed by an empty batch", async () => {
  const { reader, sizes } = createReader((refs) => refs);
  await Promise.all(
    Array.from({ length: 100 }, (_unused, index) => reader.get("w", `p${index}`, "en")),
  );
  await nextTurn();
  expect(sizes).toEqual([100]);
});

test("two reads of the same post both return the post, and the read of a post that is missing or belongs to another workspace fails with not_found", async () => {
  const { reader } = createReader((refs) =>
    refs.filter(({ workspaceId, id }) => workspaceId === "w" && id === "p"),
  );
  const reads = await Promise.allSettled([
    reader.get("w", "p", "en"),
    reader.get("w", "p", "en"),
    reader.get("w", "q", "en"),
    reader.get("v", "p", "en"),
  ]);
  expect(reads.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "rejected",
  ]);
  expect(reads[3]).toMatchObject({ reason: { reason: "not_found" } });
});

test("a failed batch call to the posts service fails the post reads of this batch and no later reads", async () => {
  let calls = 0;
  const { reader } = createReader((refs) => {
    calls += 1;
    if (calls === 1) throw unavailable();
    return refs;
  });
  await expect(reader.get("w", "p", "en")).rejects.toMatchObject({ reason: "unavailable" });
  await expect(reader.get("w", "p", "en")).resolves.toMatchObject({ id: "p" });
});

test("a post that the posts service cannot read fails its own read, and none of those that share the call", async () => {
  const { reader } = createReader((refs) => {
    if (refs.some(({ id }) => id === "p3")) throw new ServiceError("internal", "internal_error");
    return refs;
  });
  const reads = Array.from({ length: 10 }, (_unused, index) => reader.get("w", `p${index}`, "en"));
  const failed = (await Promise.allSettled(reads)).flatMap(({ status }, index) =>
    status === "rejected" ? [index] : [],
  );
  expect(failed).toEqual([3]);
});

test("posts that the posts service leaves out of a full answer are requested in another call, and no post is read twice", async () => {
  const asked: string[][] = [];
  const reader = createPostReader({
    batchGetPosts: async ({ refs = [], maxBytes = 0 }) => {
      expect(maxBytes).toBe(2 * 1024 * 1024);
      const ids = refs.map(({ id = "" }) => id);
      asked.push(ids);
      const posts = ids.slice(0, 2).map((id) => ({ id, workspaceId: "w" }));
      const deferred = ids.length > 2 ? { deferredFrom: 2 } : {};
      return await Promise.resolve(create(BatchGetPostsResponseSchema, { posts, ...deferred }));
    },
  });
  const reads = ["a", "b", "c", "d", "e"].map((id) => reader.get("w", id, "en"));
  expect((await Promise.all(reads)).map(({ id }) => id)).toEqual(["a", "b", "c", "d", "e"]);
  expect(asked).toEqual([["a", "b", "c", "d", "e"], ["c", "d"], ["e"]]);
});

test("the gateway reads posts with at most eight concurrent calls to the posts service, and those of one workspace with at most four", async () => {
  let [inFlight, most] = [0, 0];
  const reader = createPostReader({
    batchGetPosts: async ({ refs = [] }) => {
      most = Math.max(most, (inFlight += 1));
      await nextTurn();
      inFlight -= 1;
      const posts = refs.map(({ id = "", workspaceId = "" }) => ({ id, workspaceId }));
      return create(BatchGetPostsResponseSchema, { posts });
    },
  });
  const readAll = async (workspaces: number) => {
    most = 0;
    const reads = Array.from({ length: 2_000 }, (_unused, index) =>
      reader.get(`w${index % workspaces}`, `p${index}`, "en"),
    );
    expect(await Promise.all(reads)).toHaveLength(2_000);
    return most;
  };
  expect(await readAll(1)).toBe(4);
  expect(await readAll(1_000)).toBe(8);
});

test("one large post of another workspace does not divide the reads of small ones among many calls", async () => {
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let calls = 0;
  const reader = createPostReader({
    batchGetPosts: async ({ refs = [] }) => {
      calls += 1;
      await started;
      const known = refs.map(({ id = "", workspaceId = "" }) => ({ id, workspaceId }));
      const isLarge = known.findIndex(({ workspaceId }) => workspaceId === "large") + 1;
      const fitting = isLarge === 0 ? known : known.slice(0, isLarge);
      const deferred = fitting.length < known.length ? { deferredFrom: fitting.length } : {};
      return create(BatchGetPostsResponseSchema, { posts: fitting, ...deferred });
    },
  });
  const reads = ["large", ...Array.from({ length: 80 }, () => "small")].map((workspaceId, index) =>
    reader.get(workspaceId, `p${index}`, "en"),
  );
  start();
  expect(await Promise.all(reads)).toHaveLength(81);
  expect(calls).toBeLessThanOrEqual(16);
});

test("the read of a post waits for no reads of large posts of another workspace", async () => {
  const asked: string[][] = [];
  const reader = createPostReader({
    batchGetPosts: async ({ refs = [] }) => {
      const known = refs.map(({ id = "", workspaceId = "" }) => ({ id, workspaceId }));
      asked.push(known.map(({ workspaceId }) => workspaceId));
      await nextTurn();
      const deferred = known.length > 7 ? { deferredFrom: 7 } : {};
      return create(BatchGetPostsResponseSchema, { posts: known.slice(0, 7), ...deferred });
    },
  });
  const large = Array.from({ length: 600 }, (_unused, index) =>
    reader.get("large", `p${index}`, "en"),
  );
  await nextTurn();
  await reader.get("other", "p", "en");
  const ahead = asked.findIndex((workspaces) => workspaces.includes("other"));
  expect(ahead).toBe(4);
  await Promise.all(large);
  // What a full answer left out is asked for in numbers that about fit into one.
  expect(asked.flat().length).toBeLessThan(3 * 600);
});

test("a call for several post reads carries the request id of each of these reads", async () => {
  const ids: (string | undefined)[] = [];
  const reader = createPostReader({
    batchGetPosts: async ({ refs = [] }) => {
      ids.push(findContext()?.requestId);
      const posts = refs.map(({ id = "" }) => ({ id, workspaceId: "w" }));
      return await Promise.resolve(create(BatchGetPostsResponseSchema, { posts }));
    },
  });
  const read = (requestId: string) => runInContext({ requestId }, () => reader.get("w", "p", "en"));
  await Promise.all([read("first"), read("second")]);
  await read("third");
  expect(ids).toEqual(["first,second", "third"]);
});
