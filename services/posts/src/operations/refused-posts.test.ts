import { randomUUID } from "node:crypto";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { expect, test } from "vitest";
import { RefusedPosts } from "./refused-posts.ts";

test("all of 2,000 posts that cannot be started are left out of the next batch", async () => {
  const refused = new RefusedPosts(createLogger({ service: "posts", level: "silent" }));
  const ids = Array.from({ length: 2_000 }, () => randomUUID());

  await refused.handleOthers(
    () => Promise.reject(new Error("the index is damaged")),
    () => Promise.resolve(ids),
  );

  expect(refused.list()).toEqual(ids);
});
