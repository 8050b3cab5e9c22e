import { expect, test } from "vitest";
import { inHalves } from "./in-halves.ts";

const TOO_SLOW = Object.assign(new Error("statement timeout"), { code: "57014" });

async function run(refuse: (items: readonly number[]) => Error | undefined) {
  const skipped: number[] = [];
  const done = await inHalves(
    [1, 2, 3, 4, 5],
    async (items) => {
      const error = refuse(items);
      if (error !== undefined) throw error;
      return items;
    },
    (item) => skipped.push(item),
  );
  return { done, skipped };
}

test("work that exceeds a limit of the database is done in halves", async () => {
  const answer = await run(({ length }) => (length > 2 ? TOO_SLOW : undefined));
  expect(answer).toEqual({ done: [[1, 2], [3], [4, 5]], skipped: [] });
});

test.each([
  ["exceeds the limit", TOO_SLOW],
  ["is refused", new RangeError("Invalid time value")],
])("an item that %s alone is skipped, and the others are done", async (_what, error) => {
  const answer = await run((items) => (items.includes(2) ? error : undefined));
  expect(answer).toEqual({ done: [[1], [3], [4, 5]], skipped: [2] });
});

test("an error that does not depend on the items ends the work", async () => {
  const down = Object.assign(new Error("the database is down"), { code: "ECONNREFUSED" });
  await expect(run(() => down)).rejects.toBe(down);
});
