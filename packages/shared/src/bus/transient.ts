import { RetryLaterError } from "#src/bus.ts";
import { ServiceError } from "#src/errors.ts";
import { isInfrastructureError } from "#src/postgres.ts";

/**
 * Whether the error says nothing about the event: database or peer away, or the handler asked to wait. Such an error is
 * retried for ever and never parks an event; every other one is taken as deterministic.
 */
export function isTransientError(error: unknown): boolean {
  if (error instanceof RetryLaterError || isInfrastructureError(error)) return true;
  return (
    error instanceof ServiceError && (error.kind === "unavailable" || error.kind === "timeout")
  );
}
