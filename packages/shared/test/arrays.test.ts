import { afterAll, expect, test } from "vitest";
import { createDatabase } from "./test-service.ts";

const database = await createDatabase(1);

afterAll(() => database[Symbol.asyncDispose]());

test("arrays are stored in Postgres and read back as lists", async () => {
  const texts = ["plain", "with space", 'with "quotes", commas and \\', "{braces}", ""];
  const ids = ["0198a6a4-0000-7000-8000-000000000001", "0198a6a4-0000-7000-8000-000000000002"];
  const numbers = [1, -2, 9_007_199_254_740_991];
  const [row] = await database.sql`
    select
      ${texts}::text[] as texts,
      ${ids}::uuid[] as ids,
      ${numbers}::bigint[] as numbers,
      ${[]}::uuid[] as none,
      '{3,4}'::int[] as ints`;
  expect(row).toEqual({ texts, ids, numbers, none: [], ints: [3, 4] });
});
