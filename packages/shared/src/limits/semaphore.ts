import { unavailable } from "#src/errors.ts";

export interface SemaphoreLimits {
  /** Maximum number of permits in use at the same time. Further requests for permits wait or are refused. */
  readonly total: number;
  /** Maximum number of permits in use per key, so that one key leaves permits for others. Default: `total`. */
  readonly perKey?: number;
  /** Maximum number of callers that wait for permits; further callers are refused immediately. Default: 0. */
  readonly maxWaiting?: number;
  /**
   * Maximum number of callers that wait per owner of a share, so that one owner leaves places in the queue for others.
   * Default: `maxWaiting`.
   */
  readonly maxWaitingPerShare?: number;
  /** Maximum time that a caller waits for permits before it is refused. Default: as long as its abort signal allows. */
  readonly maxWaitMs?: number;
}

/** A limit on the permits of one owner, for example a workspace, an upload grant or an address. */
export interface Share {
  /** Name of the owner of the permits. It is unique among owners of every kind, for example `workspace <id>`. */
  readonly key: string;
  /** Maximum number of permits that the owner may use at the same time. Default: no fixed maximum. */
  readonly max?: number;
  /**
   * Maximum ratio of the permits that the owner uses to the permits that are free. With 1, a single owner gets half of all
   * permits and leaves the other half free; each further owner gets a part of the free permits. The ratio does not limit an
   * owner that uses no permit yet.
   */
  readonly perFree?: number;
}

export interface AcquireOptions {
  /**
   * Name of the owner to which the permits of a call count. Each owner may use at most `perKey` permits; calls without a key
   * have one common owner.
   */
  readonly key?: string;
  /**
   * Limits of the owners to which the permits of a call count, for example its workspace and its client address. The
   * call gets permits when every limit has room for them. If this option is set, `key` is ignored.
   */
  readonly shares?: readonly Share[];
  /**
   * Number of requested permits, for example one for each byte. A request for more permits than the limits allow gets
   * as many as they allow.
   */
  readonly amount?: number;
  /** Aborts the wait for permits. */
  readonly signal?: AbortSignal;
}

interface Request {
  readonly shares: readonly Share[];
  readonly amount: number;
  isGranted: boolean;
  onGranted: () => void;
}

/**
 * A bounded number of permits, granted in the order of the requests. A request whose owner has reached its limit lets requests
 * of other owners pass. A request that waits for many free permits lets no later request pass, so that requests for few permits
 * never starve it.
 */
export class Semaphore {
  readonly #limits: Required<Omit<SemaphoreLimits, "maxWaitMs">>;
  readonly #maxWaitMs: number | undefined;
  readonly #usedByKey = new Map<string, number>();
  readonly #waiting = new Set<Request>();
  #used = 0;

  constructor({ total, perKey = total, maxWaiting = 0, maxWaitMs, ...limits }: SemaphoreLimits) {
    const { maxWaitingPerShare = maxWaiting } = limits;
    this.#limits = { total, perKey: Math.min(perKey, total), maxWaiting, maxWaitingPerShare };
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
   * @throws `unavailable` when too many callers wait, in total or of one owner, or the wait takes too long; the signal's reason when it is aborted.
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

  #enqueue({ key = "", amount = 1, ...options }: AcquireOptions): Request {
    const { total, perKey } = this.#limits;
    const shares = options.shares ?? [{ key, max: perKey }];
    const request = {
      shares,
      amount: Math.min(amount, total, ...shares.map(({ max = total }) => max)),
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
    if (this.#isQueueFull(request)) giveUp(unavailable());
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Whether too many requests wait, in total or of one owner. The list of waiting requests already contains this one. */
  #isQueueFull({ shares }: Request): boolean {
    const { maxWaiting, maxWaitingPerShare } = this.#limits;
    if (this.#waiting.size > maxWaiting) return true;
    if (this.#waiting.size <= maxWaitingPerShare) return false;
    const waiting = [...this.#waiting];
    return shares.some(({ key }) => {
      const ofOwner = waiting.filter((other) => other.shares.some((share) => share.key === key));
      return ofOwner.length > maxWaitingPerShare;
    });
  }

  #grantWaiting(): void {
    const keysInOrder = new Set<string>();
    for (const request of this.#waiting) {
      const { shares, amount } = request;
      const full = shares.filter(
        (share) => keysInOrder.has(share.key) || !this.#hasRoom(share, amount),
      );
      if (full.length > 0) {
        // Later requests of an owner who has reached the limit wait until this request of the same owner is granted.
        for (const { key } of full) keysInOrder.add(key);
        continue;
      }
      if (this.#used + amount > this.#limits.total) return;
      this.#waiting.delete(request);
      this.#add(shares, amount);
      request.isGranted = true;
      request.onGranted();
    }
  }

  #hasRoom({ key, max = Infinity, perFree = Infinity }: Share, amount: number): boolean {
    const used = this.#usedByKey.get(key) ?? 0;
    if (used === 0) return amount <= max;
    const free = this.#limits.total - this.#used;
    return used + amount <= Math.min(max, perFree * free);
  }

  #add(shares: readonly Share[], amount: number): void {
    this.#used += amount;
    for (const { key } of shares) {
      const used = (this.#usedByKey.get(key) ?? 0) + amount;
      if (used > 0) this.#usedByKey.set(key, used);
      else this.#usedByKey.delete(key);
    }
  }

  #toPermit({ shares, amount }: Request): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#add(shares, -amount);
        this.#grantWaiting();
      },
    };
  }
}
