import { expect, test } from "vitest";
import { readTiff } from "./tiff.ts";

/** A directory with one entry for each `[tag, type, count, value]`. */
function directory(...entries: readonly (readonly [number, number, number, number])[]): Buffer {
  const bytes = Buffer.alloc(2 + 12 * entries.length + 4);
  bytes.writeUInt16LE(entries.length, 0);
  entries.forEach(([tag, type, count, value], index) => {
    const at = 2 + 12 * index;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(count, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  });
  return bytes;
}

const [LONG, TEXT, IFD] = [4, 2, 13];

test.each([
  ["one smaller version", [200]],
  ["two smaller versions", [200, 300]],
])("metadata of %s of a TIFF page are removed", (_name, places) => {
  const file = Buffer.alloc(500);
  file.write("II*\0\x08\0\0\0", "latin1");
  const [first = 0] = places;
  const many = places.length > 1;
  directory(
    [256, LONG, 1, 8],
    [257, LONG, 1, 8],
    [330, IFD, places.length, many ? 100 : first],
  ).copy(file, 8);
  if (many) places.forEach((place, index) => file.writeUInt32LE(place, 100 + 4 * index));
  for (const place of places) {
    directory([315, TEXT, 13, place + 40], [34_853, LONG, 1, place + 60]).copy(file, place);
    file.write("Ada Lovelace\0", place + 40);
    directory([29, TEXT, 11, place + 80]).copy(file, place + 60);
    file.write("2026:11:21\0", place + 80);
  }
  const layout = readTiff(file);
  const [made] = layout.withoutMetadata(1);
  if (!(made instanceof Buffer)) throw new Error("the TIFF was not rewritten");
  expect(layout.hasMetadata).toBe(true);
  expect([file.includes("Ada"), file.includes("2026:11:21")]).toEqual([true, true]);
  expect([made.includes("Ada"), made.includes("2026:11:21")]).toEqual([false, false]);
  expect(readTiff(made).hasMetadata).toBe(false);
});
