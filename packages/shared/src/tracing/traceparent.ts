import { randomFillSync } from "node:crypto";

const TRACEPARENT =
  /^(?<version>(?!ff)[0-9a-f]{2})-(?<ids>(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;

const SAMPLED = 1;

/**
 * Parses the `traceparent` header of W3C Trace Context (https://www.w3.org/TR/trace-context/). Of
 * the flags only "sampled" is kept.
 *
 * @returns The header in version 00; undefined when it is invalid. Then the process that received
 *   the header starts a new trace.
 */
export function parseTraceparent(text: string): string | undefined {
  const { version, ids, flags = "", rest } = TRACEPARENT.exec(text)?.groups ?? {};
  if (ids === undefined || (version === "00" && rest !== undefined)) return undefined;
  return `00-${ids}-${isSampled(flags) ? "01" : "00"}`;
}

function isSampled(flags: string): boolean {
  return (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
}

const ID_BYTES = 24;

/** Generating a few bytes at a time costs ten times as much. */
const pool = Buffer.alloc(ID_BYTES * 128);
let used = pool.length;

function takeIds(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString("hex", used - ID_BYTES, used);
}

/** Not recorded; the trace id is still used in logs and events. */
export function newTraceparent(): string {
  const ids = takeIds();
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`;
}

export interface SpanReference {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Splits a `traceparent` header that `parseTraceparent` or this module created. */
export function toSpanReference(traceparent: string): SpanReference {
  return {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    isSampled: isSampled(traceparent.slice(53)),
  };
}

export function fromSpanReference({ traceId, spanId, isSampled }: SpanReference): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** All spans and log lines of a trace share it. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
