import { ServiceError } from "@postrider/shared/errors";

/** Milliseconds after which an RPC that calls a platform is given up. The called service itself waits at most 10 s. */
export const PLATFORM_CALL_TIMEOUT_MS = 12_000;

/**
 * Returns a message that an RPC must answer with.
 *
 * @throws `internal` for an absent message, which is a fault of the called service, not of the client.
 */
export function required<T>(message: T | undefined): T {
  if (message === undefined) throw new ServiceError("internal", "internal");
  return message;
}
