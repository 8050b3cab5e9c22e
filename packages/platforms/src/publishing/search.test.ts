import { expect, test } from "vitest";
import { judgeMatchingPosts, type MatchingPost } from "./search.ts";
import type { UnknownCall } from "./verdict.ts";

const MINUTE_MS = 60_000;
const UNTIL = new Date("2026-11-21T12:00:00Z");

function call(afterMs: number, looks: number, owned: readonly string[] = []): UnknownCall {
  return {
    calledAt: new Date(UNTIL.getTime() - MINUTE_MS),
    callUntil: UNTIL,
    looks,
    now: new Date(UNTIL.getTime() + afterMs),
    timeScale: 1,
    isOwned: () => Promise.resolve(new Set(owned)),
    hasPostWithoutId: () => Promise.resolve(false),
    hasSimilarPost: () => Promise.resolve(false),
  };
}

const post = (id: string): MatchingPost => ({ id, permalink: `https://example.test/${id}` });
const PUBLICATION = { text: "hello" };

test("the only post on the platform that matches a publishing call with an unknown outcome is taken as the published post", async () => {
  expect(await judgeMatchingPosts([post("1")], PUBLICATION, call(0, 0))).toEqual({
    kind: "present",
    externalId: "1",
    permalink: "https://example.test/1",
  });
});

test("a matching post that belongs to another Postrider post is not taken as the published post", async () => {
  const owned = call(0, 0, ["1"]);
  expect(await judgeMatchingPosts([post("1"), post("2")], PUBLICATION, owned, [])).toMatchObject({
    externalId: "2",
  });
  expect(await judgeMatchingPosts([post("1")], PUBLICATION, owned, [])).toEqual({ kind: "absent" });
});

test("a platform post whose id proves that it is the published post is accepted even if it is stored as another Postrider post", async () => {
  const posts = [post("1"), { ...post("2"), isProven: true }];
  expect(await judgeMatchingPosts(posts, PUBLICATION, call(0, 0, ["2"]))).toMatchObject({
    kind: "present",
    externalId: "2",
  });
});

test("a person must decide whether a post found by its text is the published one if another Postrider post of the account has that text", async () => {
  const similar = { ...call(0, 0), hasSimilarPost: () => Promise.resolve(true) };
  expect(await judgeMatchingPosts([post("1")], PUBLICATION, similar)).toMatchObject({
    kind: "cannot_tell",
  });
  const proven = { ...post("2"), isProven: true };
  expect(await judgeMatchingPosts([post("1"), proven], PUBLICATION, similar)).toMatchObject({
    externalId: "2",
  });
});

test("a post found by its text is not taken as the published one while the platform has not returned the id of another post", async () => {
  const nameless = (afterMs: number, looks: number) => ({
    ...call(afterMs, looks),
    hasPostWithoutId: () => Promise.resolve(true),
  });
  const judge = (of: UnknownCall) => judgeMatchingPosts([post("1")], PUBLICATION, of);
  expect(await judge(nameless(0, 0))).toEqual({ kind: "look_again", afterMs: MINUTE_MS });
  expect(await judge(nameless(10 * MINUTE_MS, 3))).toMatchObject({ kind: "cannot_tell" });
});

test("a found post that becomes known as another one during the search is not taken as the published one", async () => {
  const owned = new Set<string>();
  const becomesKnown = {
    ...call(0, 0),
    isOwned: (ids: readonly string[]) => Promise.resolve(owned.intersection(new Set(ids))),
    hasSimilarPost: () => Promise.resolve(owned.add("1").has("2")),
  };
  expect(await judgeMatchingPosts([post("1")], PUBLICATION, becomesKnown)).toMatchObject({
    kind: "look_again",
  });
});

test.each([
  ["several posts match the publication", [post("1"), post("2")], "hello"],
  ["the matching post has no text", [post("1")], " "],
])("a person must decide whether the post was published when %s", async (_name, posts, text) => {
  expect(await judgeMatchingPosts(posts, { text }, call(0, 0))).toMatchObject({
    kind: "cannot_tell",
  });
});

test.each([
  [0, 0, { kind: "look_again", afterMs: MINUTE_MS }],
  [MINUTE_MS, 1, { kind: "look_again", afterMs: 2 * MINUTE_MS }],
  [3 * MINUTE_MS, 2, { kind: "look_again", afterMs: 7 * MINUTE_MS }],
  // A process that was down begins its searches late, but makes every scheduled search.
  [60 * MINUTE_MS, 1, { kind: "look_again", afterMs: 10 }],
  [10 * MINUTE_MS - 1, 3, { kind: "look_again", afterMs: 10 }],
  [10 * MINUTE_MS, 3, { kind: "absent" }],
])(
  "a search that finds no matching post %i ms after the publishing call, with %i searches before it, has the result %j",
  async (afterMs, looks, verdict) => {
    expect(await judgeMatchingPosts([], PUBLICATION, call(afterMs, looks))).toEqual(verdict);
  },
);

test("one search that finds nothing proves that a post is absent when the platform's list of posts has no delay", async () => {
  expect(await judgeMatchingPosts([], PUBLICATION, call(0, 0), [])).toEqual({ kind: "absent" });
});
