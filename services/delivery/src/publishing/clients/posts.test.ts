import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import { newId } from "@postrider/shared/ids";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect, test } from "vitest";
import { fetchContents } from "./posts.ts";

test("the contents of many targets are asked for in several calls, and returned in the order of the targets", async () => {
  const counts: number[] = [];
  const peer = createTestPeer((router) =>
    router.service(TargetService, {
      batchGetTargetContents: ({ refs }) => {
        counts.push(refs.length);
        return { contents: refs.map((ref) => ({ ref, wanted: true })) };
      },
    }),
  );
  const targets = Array.from({ length: 60 }, () => ({
    workspaceId: newId(),
    targetId: newId(),
    generation: 1,
  }));
  const contents = await fetchContents(peer.client(TargetService), targets);
  expect(contents.map(({ ref }) => ref?.targetId)).toEqual(targets.map(({ targetId }) => targetId));
  expect(counts.toSorted((a, b) => a - b)).toEqual([10, 25, 25]);
});
