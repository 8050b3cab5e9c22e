import { expect, test } from "vitest";
import { parseRange } from "#src/http/byte-range.ts";

test.each([
  ["bytes=0-", "bytes=0-"],
  ["bytes=10-19", "bytes=10-19"],
  ["bytes=7-7", "bytes=7-7"],
  ["Bytes=-5", "bytes=-5"],
])("%j asks for one range", (header, range) => {
  expect(parseRange(header)).toBe(range);
});

test.each([
  undefined,
  "",
  "bytes=",
  "bytes=-",
  "bytes=5-2",
  "bytes=0-1,3-4",
  "bytes=0-1, 3-4",
  "bytes= 0-1",
  "bytes=0x1-2",
  "bytes=1e3-",
  "bytes=-1-2",
  "items=0-1",
  "bytes=0-9999999999999999999999",
  "0-1",
])("%j asks for the whole file", (header) => {
  expect(parseRange(header)).toBeUndefined();
});
