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

test("an item that exceeds the limit alone is skipped, and the others are done", async () => {
  const answer = await run((items) => (items.includes(2) ? TOO_SLOW : undefined));
  expect(answer).toEqual({ done: [[1], [3], [4, 5]], skipped: [2] });
});

test("another error ends the work", async () => {
  const down = new Error("the database is down");
  await expect(run(() => down)).rejects.toBe(down);
});
