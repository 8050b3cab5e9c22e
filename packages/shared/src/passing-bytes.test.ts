import { expect, test } from "vitest";
import { notePassingBytes } from "#src/passing-bytes.ts";

const PIECE = 64 * 1024;
const MEGABYTE = 1024 * 1024;

/** The most that buffers took while 512 MB of them passed. */
function passAll(note: (bytes: number) => void): number {
  const before = process.memoryUsage().arrayBuffers;
  let highest = before;
  for (let passed = 0; passed < 512 * MEGABYTE; passed += PIECE) {
    const piece = Buffer.allocUnsafeSlow(PIECE);
    note(piece.length);
    highest = Math.max(highest, process.memoryUsage().arrayBuffers);
  }
  return (highest - before) / MEGABYTE;
}

test("bytes that pass through do not pile up", () => {
  expect(passAll(notePassingBytes)).toBeLessThan(40);
});
