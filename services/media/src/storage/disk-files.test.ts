import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nextWriteTime, writeBatched } from "#src/storage/disk-files.ts";

test("nextWriteTime returns the current time and never returns the same microsecond twice", () => {
  const times = Array.from({ length: 20_000 }, nextWriteTime);
  expect(new Set(times.map((time) => Math.round(time * 1_000_000))).size).toBe(20_000);
  expect(Math.abs((times[0] ?? 0) * 1000 - Date.now())).toBeLessThan(60_000);
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "write-gathered-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function* chunksOf(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(bytes, index % 251);
}

test.each([
  [0, 0],
  [3, 0],
  [1, 5],
  [1000, 3],
  [70, 64 * 1024],
  [3, 3_000_000],
])("writeBatched writes %i chunks of %i bytes in their order", async (count, bytes) => {
  const path = join(folder, `${count}-${bytes}`);
  await using file = await open(path, "wx");
  await writeBatched(file, chunksOf(count, bytes));
  const expected: Uint8Array[] = [];
  for await (const part of chunksOf(count, bytes)) expected.push(part);
  expect((await readFile(path)).equals(Buffer.concat(expected))).toBe(true);
});

test("writeBatched completes a write that the disk accepted only in part", async () => {
  const path = join(folder, "part");
  await using file = await open(path, "wx");
  const short = {
    writev: ([first = new Uint8Array()]: readonly Uint8Array[]) => file.writev([first]),
    writeFile: (bytes: Uint8Array) => file.writeFile(bytes),
  };
  await writeBatched(short, chunksOf(300, 7));
  expect((await readFile(path)).length).toBe(2100);
  expect((await readFile(path)).subarray(7, 14)).toEqual(Buffer.alloc(7, 1));
});

test("writeBatched reports a failed write", async () => {
  const failing = {
    writev: () => Promise.reject(new Error("no space")),
    writeFile: () => Promise.resolve(),
  };
  await expect(writeBatched(failing, chunksOf(2, 1024 * 1024))).rejects.toThrow("no space");
});
