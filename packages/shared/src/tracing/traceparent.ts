import { randomFillSync } from "node:crypto";

/**
 * Matches a `traceparent` header: version, trace id, span id and flags. Later versions may append
 * fields. Ids that consist of zeros are invalid.
 */
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

/**
 * Random bytes for trace and span ids are generated in advance, because generating a few at a time
 * costs ten times as much.
 */
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

/**
 * Returns the `traceparent` of a new trace that is not recorded. Its trace id is still used in logs
 * and events.
 */
export function newTraceparent(): string {
  const ids = takeIds();
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`;
}

/** The parts of a `traceparent` header that `parseTraceparent` returned. */
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

/** Joins the parts of a `traceparent` header; the inverse of `toSpanReference`. */
export function fromSpanReference({ traceId, spanId, isSampled }: SpanReference): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/**
 * Returns the trace id of a `traceparent` header, which all spans and log lines of a trace share.
 */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
