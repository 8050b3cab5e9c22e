import { unavailable } from "#src/errors.ts";

export interface SemaphoreLimits {
  /** Maximum number of permits of the semaphore in use at the same time. */
  readonly total: number;
  /** Maximum number of permits in use per key, so that one key leaves permits for others. Default: `total`. */
  readonly perKey?: number;
  /** Maximum number of callers that wait for permits; further callers are refused immediately. Default: 0. */
  readonly maxWaiting?: number;
  /** Maximum time that a caller waits for permits before it is refused. Default: as long as its abort signal allows. */
  readonly maxWaitMs?: number;
}

export interface AcquireOptions {
  /**
   * Identifies whose share of the permits a call uses, for example a workspace, an upload grant or an address. Callers
   * without a key use one common share.
   */
  readonly key?: string;
  /**
   * Number of requested permits, for example one for each byte. A request for more permits than the limits allow gets
   * as many as they allow.
   */
  readonly amount?: number;
  /** Aborts the wait for permits. */
  readonly signal?: AbortSignal;
}

interface Request {
  readonly key: string;
  readonly amount: number;
  isGranted: boolean;
  onGranted: () => void;
}

/**
 * A bounded number of permits, granted in the order of the requests. A request whose key has used its share lets
 * requests of other keys pass. A request that waits for many permits lets no request pass, so that requests for few
 * permits never starve it.
 */
export class Semaphore {
  readonly #limits: Required<Omit<SemaphoreLimits, "maxWaitMs">>;
  readonly #maxWaitMs: number | undefined;
  readonly #usedByKey = new Map<string, number>();
  readonly #waiting = new Set<Request>();
  #used = 0;

  constructor({ total, perKey = total, maxWaiting = 0, maxWaitMs }: SemaphoreLimits) {
    this.#limits = { total, perKey: Math.min(perKey, total), maxWaiting };
    this.#maxWaitMs = maxWaitMs;
  }

  /** Returns permits that are released by disposing of them, or undefined when none are free now. Never waits. */
  tryAcquire(options: Omit<AcquireOptions, "signal"> = {}): Disposable | undefined {
    const request = this.#enqueue(options);
    if (request.isGranted) return this.#toPermit(request);
    this.#waiting.delete(request);
    return undefined;
  }

  /**
   * Waits for permits, which are released by disposing of them.
   *
   * @throws `unavailable` when too many callers wait or the wait takes too long; the signal's reason when it is aborted.
   */
  async acquire(options: AcquireOptions = {}): Promise<Disposable> {
    const { signal } = options;
    signal?.throwIfAborted();
    const request = this.#enqueue(options);
    if (!request.isGranted) await this.#wait(request, signal);
    return this.#toPermit(request);
  }

  /** Runs `work` while it holds permits. @throws What `acquire` and `work` throw. */
  async run<T>(work: () => Promise<T>, options?: AcquireOptions): Promise<T> {
    using _permit = await this.acquire(options);
    return await work();
  }

  #enqueue({ key = "", amount = 1 }: AcquireOptions): Request {
    const { perKey } = this.#limits;
    const request = {
      key,
      amount: Math.min(amount, perKey),
      isGranted: false,
      onGranted: () => undefined,
    };
    this.#waiting.add(request);
    this.#grantWaiting();
    return request;
  }

  async #wait(request: Request, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    request.onGranted = resolve;
    const giveUp = (reason: unknown): void => {
      if (!this.#waiting.delete(request)) return;
      reject(reason);
      this.#grantWaiting();
    };
    const onAbort = (): void => giveUp(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer =
      this.#maxWaitMs === undefined
        ? undefined
        : setTimeout(() => giveUp(unavailable()), this.#maxWaitMs);
    if (this.#waiting.size > this.#limits.maxWaiting) giveUp(unavailable());
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #grantWaiting(): void {
    const keysInOrder = new Set<string>();
    for (const request of this.#waiting) {
      const { key, amount } = request;
      const usedByKey = this.#usedByKey.get(key) ?? 0;
      if (keysInOrder.has(key) || usedByKey + amount > this.#limits.perKey) {
        // Later requests with the same key wait behind this request for permits.
        keysInOrder.add(key);
        continue;
      }
      if (this.#used + amount > this.#limits.total) return;
      this.#waiting.delete(request);
      this.#used += amount;
      this.#usedByKey.set(key, usedByKey + amount);
      request.isGranted = true;
      request.onGranted();
    }
  }

  #toPermit({ key, amount }: Request): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#used -= amount;
        const left = (this.#usedByKey.get(key) ?? 0) - amount;
        if (left > 0) this.#usedByKey.set(key, left);
        else this.#usedByKey.delete(key);
        this.#grantWaiting();
      },
    };
  }
}
