import { ServiceError } from "@postrider/shared/errors";

/**
 * Timeout in milliseconds of an RPC whose service calls a platform. That service itself waits for the platform for at
 * most 10 s, so it answers before the timeout.
 */
export const PLATFORM_CALL_TIMEOUT_MS = 12_000;

/**
 * Returns a message that an RPC must answer with.
 *
 * @throws `internal` for an absent message, which is an error of the called service, not of the client.
 */
export function required<T>(message: T | undefined): T {
  if (message === undefined) throw new ServiceError("internal", "internal");
  return message;
}
