import { RetryLaterError } from "#src/bus.ts";
import { isUnanswered } from "#src/errors.ts";
import { isInfrastructureError } from "#src/postgres.ts";

/**
 * Whether an error in the processing of an event does not depend on the event: the database or a peer is unavailable,
 * or the handler asked to wait. Such an error is retried without limit and never parks an event. Every other error
 * counts as deterministic.
 */
export function isTransientError(error: unknown): boolean {
  return error instanceof RetryLaterError || isInfrastructureError(error) || isUnanswered(error);
}
