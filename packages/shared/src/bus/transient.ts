import { RetryLaterError } from "#src/bus.ts";
import { isUnanswered } from "#src/errors.ts";
import { isDamagedData, isInfrastructureError } from "#src/postgres.ts";

/**
 * Whether an error in the processing of an event does not depend on the event: the database or a peer is unavailable,
 * or the handler asked to wait. Such an error is retried without limit and never parks an event. Every other error
 * counts as deterministic, also damaged data: its event is parked until the data is repaired, and all other events go on.
 */
export function isTransientError(error: unknown): boolean {
  if (isDamagedData(error)) return false;
  return error instanceof RetryLaterError || isInfrastructureError(error) || isUnanswered(error);
}
