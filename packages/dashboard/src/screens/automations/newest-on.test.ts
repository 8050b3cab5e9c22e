import { expect, test } from "vitest";
import { newestOn } from "./newest-on.ts";

/** Posts on one of as many accounts after the other. */
async function* postsOn(accounts: number, read: number[]) {
  for (let id = 0; ; id += 1) {
    read.push(id);
    yield await Promise.resolve({ id, targets: [{ accountId: `a${id % accounts}` }] });
  }
}

test("the newest posts of an account are found behind those of other accounts, and no more are read", async () => {
  const read: number[] = [];
  const found = await newestOn(postsOn(10, read), "a3");
  expect(found.map(({ id }) => id)).toEqual(
    Array.from({ length: 20 }, (_, index) => index * 10 + 3),
  );
  expect(read).toHaveLength(194);
});

test("of an account whose posts are far back, the newest 500 posts are looked at", async () => {
  const read: number[] = [];
  expect(await newestOn(postsOn(200, read), "a3")).toHaveLength(3);
  expect(read).toHaveLength(500);
});
