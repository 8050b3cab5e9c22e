import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeNewFile } from "./write-new-file.ts";

/** More files than Node opens at once: it has four threads for calls of the file system. */
const OPENED_FILES = 16;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "write-new-file-"));
  path = join(folder, "file");
});
afterEach(() => rmSync(folder, { recursive: true }));

/**
 * Keeps all threads busy that this process has for calls of the file system, until `release` is
 * called: each of them waits for a writer of a named pipe.
 */
function occupyFileThreads(): { readonly release: () => Promise<void> } {
  const pipe = join(mkdtempSync(join(tmpdir(), "occupied-")), "pipe");
  execFileSync("mkfifo", [pipe]);
  const readers = Array.from({ length: OPENED_FILES }, () => open(pipe, "r"));
  return {
    release: async () => {
      const writer = openSync(pipe, constants.O_RDWR);
      for (const reader of await Promise.all(readers)) await reader.close();
      closeSync(writer);
      rmSync(join(pipe, ".."), { recursive: true });
    },
  };
}

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield Buffer.from(text);
}

async function* failing(): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from("some");
  throw new Error("the source broke");
}

test("writeNewFile writes all bytes to the new file", async () => {
  await writeNewFile(path, bytesOf("all ", "bytes"));
  expect(await readFile(path, "utf8")).toBe("all bytes");
});

test("writeNewFile fails and keeps the file when the file exists already", async () => {
  await writeNewFile(path, bytesOf("first"));
  await expect(writeNewFile(path, bytesOf("other"))).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(path, "utf8")).toBe("first");
});

test("when the source of the bytes fails, writeNewFile rejects only after the file system has created the file, so that the caller can delete it", async () => {
  const { release } = occupyFileThreads();
  const found = writeNewFile(path, failing()).then(
    () => "written",
    () => readdirSync(folder),
  );
  // A write that does not wait for the file has rejected after these turns of the event loop.
  for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
  await release();
  expect(await found).toEqual(["file"]);
});
