import { OutboundError } from "#src/http/outbound-error.ts";

/**
 * The deadline of a whole HTTP exchange. Its abort signal fires with `timed_out` at the deadline, or earlier when the
 * caller's signal fires.
 */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(totalMs: number, callerSignal: AbortSignal | undefined) {
    const controller = new AbortController();
    this.#timer = setTimeout(() => controller.abort(new OutboundError("timed_out")), totalMs);
    this.signal =
      callerSignal === undefined
        ? controller.signal
        : AbortSignal.any([controller.signal, callerSignal]);
  }

  /** Waits for `work` until the deadline of the exchange. Afterwards the result of `work` is ignored. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    // Every caller aborts the signal with an error, so the reason of the signal is always an error here.
    const onAbort = () => reject(this.signal.reason as Error);
    this.signal.addEventListener("abort", onAbort);
    try {
      this.signal.throwIfAborted();
      return await Promise.race([work, promise]);
    } finally {
      this.signal.removeEventListener("abort", onAbort);
      work.catch(() => undefined);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
