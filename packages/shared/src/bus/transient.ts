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
