import type { PostSummary } from "@postrider/client";
import { expect, test } from "vitest";
import { mergePages, type PostPage } from "./merge-pages.ts";

const page = (times: readonly string[], nextCursor: string | null = null): PostPage => ({
  posts: times.map((scheduledAt) => ({ id: scheduledAt, scheduledAt }) as PostSummary),
  nextCursor,
});
const merge = (lists: Readonly<Record<string, readonly PostPage[]>>) =>
  mergePages(lists).map(({ id }) => id);

test("two lists that were read to their ends are one, latest first", () => {
  expect(merge({ failed: [page(["9", "3"])], partial: [page(["7", "1"])] })).toEqual([
    "9",
    "7",
    "3",
    "1",
  ]);
});

test("posts that may come after unread ones of another list are held back", () => {
  const lists = { failed: [page(["9", "8"], "more")], partial: [page(["7", "1"])] };
  expect(merge(lists)).toEqual(["9", "8"]);
  const further = { ...lists, failed: [...lists.failed, page(["5"])] };
  expect(merge(further)).toEqual(["9", "8", "7", "5", "1"]);
});

test("an empty page of a list that goes on holds back what may come before its next post", () => {
  const lists = { failed: [page(["8"], "more"), page([], "more")], partial: [page(["9", "1"])] };
  expect(merge(lists)).toEqual(["9", "8"]);
});

test("posts without a time stand where they were created", () => {
  const draft = { id: "draft", scheduledAt: null, createdAt: "5" } as PostSummary;
  const lists = { draft: [{ posts: [draft], nextCursor: null }], all: [page(["9", "3"])] };
  expect(merge(lists)).toEqual(["9", "draft", "3"]);
});
