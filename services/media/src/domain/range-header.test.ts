import { expect, test } from "vitest";
import { parseRangeHeader } from "./range-header.ts";

test.each([
  ["bytes=0-0", { start: 0, length: 1 }],
  ["bytes=0-99", { start: 0, length: 100 }],
  ["bytes=90-", { start: 90, length: 10 }],
  ["bytes=90-1000", { start: 90, length: 10 }],
  ["bytes=-10", { start: 90, length: 10 }],
  ["bytes=-1000", { start: 0, length: 100 }],
  ["Bytes=5-6", { start: 5, length: 2 }],
])("the Range header %s selects the expected bytes of a 100-byte object", (header, part) => {
  expect(parseRangeHeader(header, 100)).toEqual(part);
});

test.each(["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])(
  "the Range header %s cannot be satisfied for a 100-byte object",
  (header) => {
    expect(parseRangeHeader(header, 100)).toBe("unsatisfiable");
  },
);

test.each([
  undefined,
  "",
  "bytes=",
  "bytes=-",
  "bytes=5-4",
  "bytes=0-1,5-6",
  "bytes=a-b",
  "items=0-1",
  "bytes=1.5-2",
])("the malformed or unsupported Range header %s is ignored", (header) => {
  expect(parseRangeHeader(header, 100)).toBeUndefined();
});
