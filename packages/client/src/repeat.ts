import { PostriderConnectionError, PostriderError } from "./errors.ts";

/** Doubles with each further repetition. */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;
/** A request whose answer asks for a longer wait is not repeated. */
const MAX_RETRY_AFTER_SECONDS = 60;
const TEMPORARY_STATUSES = new Set([502, 503, 504]);

interface RepeatOptions {
  readonly maxRetries: number;
  readonly isRepeatable: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called after what can be repeated, and before each repetition; throws if it is too late. */
  readonly assertInTime?: (error: unknown) => void;
}

/** Whether a repetition carries no risk that the request is carried out twice. */
function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof PostriderConnectionError) return isRepeatable;
  if (!(error instanceof PostriderError)) return false;
  const { status, code, retryAfterSeconds, isNotCarriedOut } = error;
  if ((retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS) return false;
  if (isNotCarriedOut) return true;
  return isRepeatable && (TEMPORARY_STATUSES.has(status) || code === "idempotency_conflict");
}

/** Without a wait in the answer, it is random, so that clients do not repeat together. */
function waitOf(error: unknown, retries: number): number {
  const growing = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** retries);
  const asked = error instanceof PostriderError ? error.retryAfterSeconds : null;
  return asked === null ? growing * (0.5 + Math.random() / 2) : asked * 1000 + Math.random() * 100;
}

export async function repeat<T>(
  attempt: () => Promise<T>,
  { maxRetries, isRepeatable, signal, assertInTime }: RepeatOptions,
): Promise<T> {
  for (let retries = 0; ; retries += 1)
    try {
      return await attempt();
    } catch (error) {
      if (!mayRepeat(error, isRepeatable)) throw error;
      assertInTime?.(error);
      if (retries >= maxRetries) throw error;
      // The computer may sleep in it.
      await pause(waitOf(error, retries), signal);
      assertInTime?.(error);
    }
}

/** @throws The reason of the signal, as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = deferred();
  const timer = setTimeout(resolve, ms);
  const abort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

// This does not use `Promise.withResolvers`, which needs Node 22.
function deferred() {
  let resolve = (): void => undefined;
  let reject = (_reason: unknown): void => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
