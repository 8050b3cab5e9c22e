import { afterEach, expect, test } from "vitest";
import { createLogger } from "#src/telemetry/logger.ts";
import { startExport } from "#src/tracing/export.ts";
import { fromSpanReference, toSpanReference } from "./traceparent.ts";
import { openSpan, sampleAnew } from "./tracing.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const IDS = { traceId: TRACE, spanId: "00f067aa0ba902b7" };
const SAMPLED = fromSpanReference({ ...IDS, isSampled: true });
const UNSAMPLED = fromSpanReference({ ...IDS, isSampled: false });

let recording: AsyncDisposable | undefined;

afterEach(async () => {
  await recording?.[Symbol.asyncDispose]();
  recording = undefined;
});

/** Starts recording spans with an OTLP endpoint that does not receive them. */
function record(ratio: number): void {
  const logger = createLogger({ service: "test", level: "silent" });
  const config = { endpoint: "http://127.0.0.1:1", headers: {}, ratio };
  recording = startExport({ ...config, service: "test", logger });
}

/** Returns the trace context that a request with this `traceparent` header passes on. */
function passOn(header: string) {
  const { traceparent = "" } = openSpan("GET /", { kind: "server", parent: sampleAnew(header) });
  return toSpanReference(traceparent);
}

test.each([
  [0, SAMPLED, false],
  [0, UNSAMPLED, false],
  [1, SAMPLED, true],
  [1, UNSAMPLED, true],
])(
  "with the sampling ratio %d, our own sampling decision replaces that of the client in the traceparent header %s",
  (ratio, header, isSampled) => {
    record(ratio);
    expect(passOn(header)).toMatchObject({ traceId: TRACE, isSampled });
  },
);

test("a client that reuses one trace id gets no larger share of its requests recorded than the sampling ratio", () => {
  record(0.1);
  const passed = Array.from({ length: 2_000 }, () => passOn(SAMPLED));
  const recorded = passed.filter(({ isSampled }) => isSampled);
  expect(recorded.length).toBeGreaterThan(100);
  expect(recorded.length).toBeLessThan(300);
  expect(new Set(passed.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});

test("when tracing is off, calls to other services ask them not to record the trace", () => {
  expect(sampleAnew(SAMPLED)).toBe(UNSAMPLED);
});

test("the sampling decision of another Postrider service is kept", () => {
  record(0);
  const { traceparent = "" } = openSpan("process", { kind: "consumer", parent: SAMPLED });
  expect(toSpanReference(traceparent).isSampled).toBe(true);
});
