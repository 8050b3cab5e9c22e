import { RetryLaterError } from "#src/bus.ts";

const FIRST_MS = 100;
const CAP_MS = 5_000;

/**
 * Milliseconds until the next try: what the error asks for, else 100 ms doubled by each failure in a row up to 5 s, with
 * 20 % jitter so that replicas do not return together.
 *
 * @param failures How many tries in a row have failed, 1 or more.
 */
export function retryDelayMs(error: unknown, failures: number, random = Math.random): number {
  if (error instanceof RetryLaterError) return error.delayMs;
  const delayMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(delayMs * (0.8 + 0.4 * random()));
}
