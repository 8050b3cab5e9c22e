import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Store } from "#src/store/store.ts";
import { Reactions } from "#src/world/reactions.ts";

const comment = (id: string, createdAt: number, mediaId = "post") => ({
  id,
  platform: "instagram",
  account: "1",
  mediaId,
  author: "eve",
  text: id,
  createdAt,
});

const idsOn = (reactions: Reactions, postId = "post") =>
  reactions.commentsOn("instagram", postId).map(({ id }) => id);

test("the simulator lists the comments on a post in order of their times, even if they arrive in another order", () => {
  const reactions = new Reactions(new Store());
  for (const each of [comment("b", 2), comment("d", 4), comment("a", 1), comment("c", 2)])
    reactions.addComment(each);
  reactions.addComment(comment("other", 3, "another post"));
  expect(idsOn(reactions)).toEqual(["a", "b", "c", "d"]);
  expect(idsOn(reactions, "another post")).toEqual(["other"]);
  expect([0, 1, 2, 9].map((at) => reactions.countComments("instagram", "post", at))).toEqual([
    0, 1, 3, 4,
  ]);
});

test("the simulator keeps comments when it restarts, and deletes them at a reset", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
  try {
    const store = new Store(dataDir);
    new Reactions(store).addComment(comment("a", 1));
    store[Symbol.dispose]();
    const restarted = new Store(dataDir);
    const reactions = new Reactions(restarted);
    expect(idsOn(reactions)).toEqual(["a"]);
    restarted.reset();
    expect(idsOn(reactions)).toEqual([]);
    restarted[Symbol.dispose]();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test("the simulator keeps the metrics that a post had at earlier times, and returns the metrics that the post had at a given time", () => {
  const reactions = new Reactions(new Store());
  reactions.setMetrics("instagram", "post", { views: 1, likes: 1 }, 10);
  reactions.setMetrics("instagram", "post", { views: 2 }, 20);
  expect(reactions.metricsAt("instagram", "post", 9)).toEqual({});
  expect(reactions.metricsAt("instagram", "post", 19)).toEqual({ views: 1, likes: 1 });
  expect(reactions.metricsOf("instagram", "post")).toEqual({ views: 2, likes: 1 });
});
