import { RetryLaterError } from "#src/bus.ts";
import { ServiceError } from "#src/errors.ts";
import { isInfrastructureError } from "#src/postgres.ts";

/**
 * Whether an error in the processing of an event does not depend on the event: the database or a peer is unavailable,
 * or the handler asked to wait. Such an error is retried without limit and never parks an event. Every other error
 * counts as deterministic.
 */
export function isTransientError(error: unknown): boolean {
  if (error instanceof RetryLaterError || isInfrastructureError(error)) return true;
  return (
    error instanceof ServiceError && (error.kind === "unavailable" || error.kind === "timeout")
  );
}
