import { setImmediate as nextTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  BatchGetPostsResponseSchema,
  type BatchGetPostsRequest,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unavailable } from "@postrider/shared/errors";
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
  const reads = Array.from({ length: 250 }, (_unused, index) => reader.get("w", `p${index}`));
  expect((await Promise.all(reads)).map(({ id }) => id)).toEqual(
    Array.from({ length: 250 }, (_unused, index) => `p${index}`),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(250);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect(sizes.length).toBeLessThanOrEqual(3);
});

test("a full batch of post reads is not followed by an empty batch", async () => {
  const { reader, sizes } = createReader((refs) => refs);
  await Promise.all(Array.from({ length: 100 }, (_unused, index) => reader.get("w", `p${index}`)));
  await nextTurn();
  expect(sizes).toEqual([100]);
});

test("two reads of the same post are both answered, and a post that is missing or in another workspace is not found", async () => {
  const { reader } = createReader((refs) =>
    refs.filter(({ workspaceId, id }) => workspaceId === "w" && id === "p"),
  );
  const reads = await Promise.allSettled([
    reader.get("w", "p"),
    reader.get("w", "p"),
    reader.get("w", "q"),
    reader.get("v", "p"),
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
  await expect(reader.get("w", "p")).rejects.toMatchObject({ reason: "unavailable" });
  await expect(reader.get("w", "p")).resolves.toMatchObject({ id: "p" });
});
