import { OutboundError } from "#src/http/outbound-error.ts";

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

  async race<T>(work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    // Every caller aborts with an error.
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
