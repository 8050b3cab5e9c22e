import { expect, test } from "vitest";
import { BatchSize } from "#src/bus/batch-size.ts";

const withCode = (code: string) => Object.assign(new Error(code), { code });

test.each([
  ["a statement that was too long", "57014", 100],
  ["a transaction that was too long", "25P04", 100],
  ["a statement for which the database had too little memory", "53200", 100],
  ["a statement that needed larger temporary files than allowed", "53400", 100],
  [
    "a connection that the database closed after 15 s, as it does with a long transaction",
    "CONNECTION_CLOSED",
    15_000,
  ],
])("after %s, the next batch has half as many records, down to one", (_what, code, tookMs) => {
  const size = new BatchSize();
  const seen: number[] = [];
  for (let failure = 0; failure < 9; failure += 1) {
    size.failed(withCode(code), size.records, tookMs);
    seen.push(size.records);
  }
  expect(seen).toEqual([100, 50, 25, 12, 6, 3, 1, 1, 1]);
});

test.each([
  ["a connection that was lost at once", withCode("CONNECTION_CLOSED"), 100],
  ["a database that refuses connections", withCode("ECONNREFUSED"), 6_000],
  ["an error of the handler", new Error("broken"), 6_000],
])("after %s, the size of batches stays the same", (_what, error, tookMs) => {
  const size = new BatchSize();
  size.failed(error, 200, tookMs);
  expect(size.records).toBe(200);
});

test("full batches that are processed within 2 s double the next batch, up to 200 records", () => {
  const size = new BatchSize();
  size.failed(withCode("57014"), 60, 10_000);
  expect(size.records).toBe(30);
  size.succeeded(30, 2_001);
  size.succeeded(7, 10);
  expect(size.records).toBe(30);
  const seen = [1, 2, 3, 4].map(() => {
    size.succeeded(size.records, 2_000);
    return size.records;
  });
  expect(seen).toEqual([60, 120, 200, 200]);
});
