import { RetryLaterError } from "#src/bus.ts";
import { isUnanswered } from "#src/errors.ts";
import { isDamagedData, isInfrastructureError } from "#src/postgres.ts";

/**
 * Whether an error does not depend on the event: database or peer are unavailable, or the handler
 * asked to wait. It is retried without limit and never parks an event. Every other error counts as
 * deterministic, also damaged data: its event is parked until the data is repaired, and all others
 * go on.
 */
export function isTransientError(error: unknown): boolean {
  if (isDamagedData(error)) return false;
  return error instanceof RetryLaterError || isInfrastructureError(error) || isUnanswered(error);
}

const FIRST_MS = 100;
const CAP_MS = 5_000;

/**
 * What the error requests, otherwise 100 ms, doubled by each further failure up to 5 s, with a
 * jitter of 20 % so that replicas do not retry together. `failures`: consecutive ones, 1 or more.
 */
export function retryDelayMs(error: unknown, failures: number, random = Math.random): number {
  if (error instanceof RetryLaterError) return error.delayMs;
  const delayMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(delayMs * (0.8 + 0.4 * random()));
}
