import { randomFillSync } from "node:crypto";

/** Version, trace id, span id and flags; a later version may add fields behind them. Ids of zeros alone are no ids. */
const TRACEPARENT =
  /^(?<version>(?!ff)[0-9a-f]{2})-(?<ids>(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;

const SAMPLED = 1;

/**
 * Reads the header of W3C Trace Context (https://www.w3.org/TR/trace-context/). Of the flags only "sampled" is kept.
 *
 * @returns It in version 00, undefined when it is none: then the receiver begins a trace of its own.
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

/** Filled some at a time: asking for so few bytes costs ten times what they do. */
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

/** The beginning of a trace that nobody records: its id is in logs and events all the same. */
export function newTraceparent(): string {
  const ids = takeIds();
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`;
}

/** The parts of a header that `parseTraceparent` has read. */
export interface SpanReference {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Takes a header apart that was made here or by `parseTraceparent`. */
export function toSpanReference(traceparent: string): SpanReference {
  return {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    isSampled: isSampled(traceparent.slice(53)),
  };
}

/** The inverse of `toSpanReference`. */
export function fromSpanReference({ traceId, spanId, isSampled }: SpanReference): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** The id that all spans and log lines of a trace have in common. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
