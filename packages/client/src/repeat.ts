import { PostriderConnectionError, PostriderError } from "./errors.ts";
import { pause } from "./pause.ts";

/** Wait before the first repetition, in milliseconds. It doubles with each further one. */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;
/** An answer that asks for a longer wait than this many seconds is not waited for. */
const MAX_RETRY_AFTER_SECONDS = 60;
const TEMPORARY_STATUSES = new Set([502, 503, 504]);

export interface RepeatOptions {
  readonly maxRetries: number;
  /** Whether carrying out the request twice has the same effect as once. */
  readonly isRepeatable: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Whether the request may be sent again after this error, without a risk that it is carried out twice. */
function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof PostriderConnectionError) return isRepeatable;
  if (!(error instanceof PostriderError)) return false;
  const { status, code, retryAfterSeconds } = error;
  if ((retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS) return false;
  // A request over the limit was refused before it was looked at, so any request may be repeated.
  if (status === 429) return true;
  return isRepeatable && (TEMPORARY_STATUSES.has(status) || code === "idempotency_conflict");
}

/**
 * Returns the wait before a repetition in milliseconds: what the answer asks for, otherwise a random part of a time that
 * grows with each repetition, so that clients that failed together do not come back together.
 */
function waitOf(error: unknown, retries: number): number {
  const growing = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** retries);
  const asked = error instanceof PostriderError ? error.retryAfterSeconds : null;
  return asked === null ? growing * (0.5 + Math.random() / 2) : asked * 1000 + Math.random() * 100;
}

/** Makes an attempt, and repeats it after failures that are over soon. */
export async function repeat<T>(
  attempt: () => Promise<T>,
  { maxRetries, isRepeatable, signal }: RepeatOptions,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (retries >= maxRetries || !mayRepeat(error, isRepeatable)) throw error;
      await pause(waitOf(error, retries), signal);
    }
  }
}
