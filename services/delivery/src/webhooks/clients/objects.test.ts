import { create } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { expect, test } from "vitest";
import { fetchMedia, type MediaClient } from "./objects.ts";

test("fetchMedia calls the media service once for each of ten workspaces, with at most four calls open at the same time", async () => {
  let running = 0;
  let maxRunning = 0;
  const waiting: (() => void)[] = [];
  const called: string[] = [];
  const batchGetMedia = async ({
    workspaceId = "",
    ids = [],
  }: Parameters<MediaClient["batchGetMedia"]>[0]) => {
    called.push(workspaceId);
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    // The simulated calls wait until four of them are open, which is the maximum, and then end
    // together.
    if (running === 4 || called.length > 8) for (const end of waiting.splice(0)) end();
    await promise;
    running -= 1;
    return {
      media: ids.map((id) => create(MediaSchema, { workspaceId, id })),
      urls: Object.fromEntries(ids.map((id) => [id, `https://media.test/${id}`])),
    };
  };
  const refs = Array.from({ length: 20 }, (_each, index) => ({
    workspaceId: `w${index % 10}`,
    id: `m${index}`,
  }));

  const found = await fetchMedia({ batchGetMedia } as unknown as MediaClient, refs, () => 1_000);

  expect(maxRunning).toBe(4);
  expect(called.toSorted()).toEqual(Array.from({ length: 10 }, (_each, index) => `w${index}`));
  expect(found.map(({ id }) => id).toSorted()).toEqual(refs.map(({ id }) => id).toSorted());
});
