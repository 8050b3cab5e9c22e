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
  ["with the sampled flag", `00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
  ["without the sampled flag", `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
  ["with unknown flags", `00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-01`],
  ["of a later version", `01-${TRACE}-${SPAN}-01-more`, `00-${TRACE}-${SPAN}-01`],
])("a traceparent header %s is passed on in version 00", (_, text, expected) => {
  expect(parseTraceparent(text)).toBe(expected);
});

test.each([
  ["an empty text", ""],
  ["a header with a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["a header with a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["a header of version ff", `ff-${TRACE}-${SPAN}-01`],
  ["a header in capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["a header of version 00 with further fields", `00-${TRACE}-${SPAN}-01-more`],
  [
    "a header of a later version without a separator before further fields",
    `01-${TRACE}-${SPAN}-01more`,
  ],
  ["a header after a space", ` 00-${TRACE}-${SPAN}-01`],
  ["a header with a line break at its end", `00-${TRACE}-${SPAN}-01\n`],
])("%s is not a valid traceparent header", (_, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test("every new traceparent header is valid and has a different trace id", () => {
  const made = Array.from({ length: 1000 }, newTraceparent);

  expect(made.map(parseTraceparent)).toEqual(made);
  expect(new Set(made.map(traceIdOf)).size).toBe(1000);
});

test("splitting a traceparent header and joining its parts returns the same header", () => {
  const header = `00-${TRACE}-${SPAN}-01`;

  expect(toSpanReference(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  expect(fromSpanReference(toSpanReference(header))).toBe(header);
});
