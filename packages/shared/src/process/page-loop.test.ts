import { expect, test } from "vitest";
import { NIL_ID } from "#src/ids.ts";
import { eventually } from "#src/testing/poll.ts";
import { startPageLoop } from "./page-loop.ts";

test("a page loop continues after the last id of each page, repeats a page that failed, and begins again after the last one", async () => {
  const asked: string[] = [];
  const errors: unknown[] = [];
  await using _loop = startPageLoop({
    idleMs: 1,
    pauseMs: 1,
    page: async (after) => {
      asked.push(after);
      if (asked.length === 2) throw new Error("the database is down");
      return after === NIL_ID ? "a" : undefined;
    },
    onError: (error) => errors.push(error),
  });
  await eventually(() => asked.length >= 5);
  expect(asked.slice(0, 5)).toEqual([NIL_ID, "a", "a", NIL_ID, "a"]);
  expect(errors).toHaveLength(1);
});
