import { ServiceError } from "@postrider/shared/errors";

/** Limits on the memory that large answers may use in the gateway until clients have read them. */
export interface UnsentLimits {
  readonly totalBytes: number;
  /**
   * Maximum number of unsent bytes of large answers to all requests without a workspace. These
   * requests do not use the bytes of workspaces.
   */
  readonly bytesWithoutWorkspace: number;
  /**
   * Maximum number of unsent bytes of large answers to one workspace or, for requests without a
   * workspace, to one remote network. While they are in use, a further request for a large answer
   * waits, and is refused after `maxWaitMs`.
   */
  readonly bytesPerCaller: number;
  /** How long a request waits for the bytes of its large answer; then it is refused. */
  readonly maxWaitMs: number;
}

/** What the gateway knows about an answer before it carries out the request. */
export interface ExpectedAnswer {
  /** Maximum size in bytes of an answer that can be large; 0 for an answer that is always small. */
  readonly bytes: number;
  /** Only the answer to a request that changes nothing may be replaced by a refusal. */
  readonly isRead: boolean;
}

/**
 * Timeout in milliseconds of an RPC whose service calls a platform. That service itself waits for
 * the platform for at most 10 s, so it answers before the timeout.
 */
export const PLATFORM_CALL_TIMEOUT_MS = 12_000;

/**
 * Returns a message that an RPC must answer with.
 *
 * @throws `internal` for an absent message, which is an error of the called service, not of the
 *   client.
 */
export function required<T>(message: T | undefined): T {
  if (message === undefined) throw new ServiceError("internal", "internal");
  return message;
}
