import { expect, test } from "vitest";
import {
  fromSpanReference,
  newTraceparent,
  parseTraceparent,
  toSpanReference,
  traceIdOf,
} from "./traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test.each([
  ["sampled", `00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
  ["not sampled", `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
  ["with flags that nobody knows yet", `00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-01`],
  ["of a later version", `01-${TRACE}-${SPAN}-01-more`, `00-${TRACE}-${SPAN}-01`],
])("a header %s is taken over in version 00", (_, text, expected) => {
  expect(parseTraceparent(text)).toBe(expected);
});

test.each([
  ["nothing", ""],
  ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["version ff", `ff-${TRACE}-${SPAN}-01`],
  ["capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["more than version 00 has", `00-${TRACE}-${SPAN}-01-more`],
  ["a later version with its end run in", `01-${TRACE}-${SPAN}-01more`],
  ["something before it", ` 00-${TRACE}-${SPAN}-01`],
  ["a line after it", `00-${TRACE}-${SPAN}-01\n`],
])("%s begins no trace", (_, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test("a trace that begins here is one that others take over, and no two are alike", () => {
  const made = Array.from({ length: 1000 }, newTraceparent);

  expect(made.map(parseTraceparent)).toEqual(made);
  expect(new Set(made.map(traceIdOf)).size).toBe(1000);
});

test("a header is taken apart and put together again", () => {
  const header = `00-${TRACE}-${SPAN}-01`;

  expect(toSpanReference(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  expect(fromSpanReference(toSpanReference(header))).toBe(header);
});
