import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import { relayLines } from "#src/relay-lines.ts";

async function relay(...chunks: readonly string[]) {
  const written: string[] = [];
  const texts: string[] = [];
  const from = Readable.from(chunks);
  relayLines(from, {
    write: (lines) => written.push(lines),
    onText: (text) => texts.push(text),
  });
  await finished(from);
  return { written, texts };
}

test("lines of JSON are passed on as whole lines, however they arrive", async () => {
  const { written, texts } = await relay('{"a":', '1}\n{"b":2}\n{"c"', ":3}");
  expect(written).toEqual(['{"a":1}\n{"b":2}\n', '{"c":3}\n']);
  expect(texts).toEqual([]);
});

test("the last words of a process that crashes are one text", async () => {
  const { written, texts } = await relay("\nError: broken\n    at main.ts:1\n\nNode.js v24\n");
  expect(texts).toEqual(["Error: broken\n    at main.ts:1\nNode.js v24"]);
  expect(written).toEqual([]);
});

test("a line without end is not kept in memory for ever", async () => {
  const { texts } = await relay("x".repeat(600_000), "x".repeat(600_000));
  expect(texts.map((text) => text.length)).toEqual([1_200_000]);
});
