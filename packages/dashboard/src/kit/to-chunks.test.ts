import fc from "fast-check";
import { expect, test } from "vitest";
import { toChunks } from "./to-chunks.ts";

const rows = fc.uniqueArray(fc.uuid(), { maxLength: 200 });
const divide = (ids: readonly string[]) => toChunks(ids, (id) => id).map((chunk) => chunk.rows);

test("chunks are all rows in their order, at most four together", () => {
  fc.assert(
    fc.property(rows, (ids) => {
      const chunks = divide(ids);
      expect(chunks.flat()).toEqual(ids);
      for (const { length } of chunks) expect(length).toBeLessThanOrEqual(4);
    }),
  );
});

test("a row that goes leaves every chunk behind the next row that begins one as it was", () => {
  fc.assert(
    fc.property(rows, fc.nat(), (ids, at) => {
      const gone = ids.length === 0 ? 0 : at % ids.length;
      const begins = ids.findIndex((id, index) => index > gone && /[048c]$/.test(id));
      const after = begins === -1 ? [] : divide(ids.slice(begins));
      const left = divide(ids.toSpliced(gone, 1));
      expect(left.slice(left.length - after.length)).toEqual(after);
    }),
  );
});

test("what stands between rows belongs to the rows above it", () => {
  const lines = ["a1", "a2", "now", "a8"];
  expect(toChunks(lines, (line) => (line === "now" ? undefined : line))).toEqual([
    { from: 0, rows: ["a1", "a2", "now"] },
    { from: 3, rows: ["a8"] },
  ]);
});
