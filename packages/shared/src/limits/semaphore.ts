import { unavailable } from "#src/errors.ts";
import { addCount } from "#src/limits/add-count.ts";
import { addTo, removeFrom } from "#src/limits/sets-by-key.ts";

export interface SemaphoreLimits {
  /** In use at the same time; further requests wait or are refused. */
  readonly total: number;
  /** One key leaves permits for others. Default: `total`. */
  readonly perKey?: number;
  /** Further callers are refused at once. Default: 0. */
  readonly maxWaiting?: number;
  /** One owner leaves places in the queue for others. Default: `maxWaiting`. */
  readonly maxWaitingPerShare?: number;
  /** Default: as long as its abort signal allows. */
  readonly maxWaitMs?: number;
}

/** A limit for one owner, for example a workspace, an upload grant or an address. */
export interface Share {
  /** Unique among owners of every kind, for example `workspace <id>`. */
  readonly key: string;
  /** Default: no fixed maximum. */
  readonly max?: number;
  /**
   * Maximum ratio of the owner's permits to the free ones. With 1, a single owner gets half of all;
   * each further owner gets a part of the free ones. Does not limit an owner without a permit.
   */
  readonly perFree?: number;
  /** A kind of work of many owners: how many of its requests wait is limited by the total only. */
  readonly isCommon?: boolean;
}

export interface AcquireOptions {
  /** Each owner may use at most `perKey`; calls without a key have one common owner. */
  readonly key?: string;
  /**
   * A call gets permits when every limit has room. `key` is then ignored. In the queue, calls
   * without shares have one common owner.
   */
  readonly shares?: readonly Share[];
  /** For example one for each byte. More than the limits allow gets as many as they allow. */
  readonly amount?: number;
  readonly signal?: AbortSignal;
}

interface Request {
  readonly shares: readonly Share[];
  readonly owners: readonly string[];
  readonly amount: number;
  /** Of the order in which requests were made. */
  readonly number: number;
  /** Requests with the same shares wait in one line. */
  readonly line: string;
  isGranted: boolean;
  onGranted: () => void;
  onRefused: () => void;
}

/**
 * Permits in the order of the requests. A request whose owner has reached its limit lets those of
 * other owners pass. One that waits for many free permits lets no later one pass, so that it never
 * starves. Of owners with a share of the free permits, one without a permit comes first: few owners
 * with many slow calls would otherwise fill the queue before all others. When the queue is full,
 * the owner with the most requests in it loses the newest one, so that another always gets a place.
 */
export class Semaphore {
  readonly #limits: Required<Omit<SemaphoreLimits, "maxWaitMs">>;
  readonly #maxWaitMs: number | undefined;
  readonly #usedByKey = new Map<string, number>();
  readonly #waiting = new Set<Request>();
  readonly #lines = new Map<string, Set<Request>>();
  readonly #waitingOf = new Map<string, Set<Request>>();
  #used = 0;
  #requests = 0;

  constructor({ total, perKey = total, maxWaiting = 0, maxWaitMs, ...limits }: SemaphoreLimits) {
    const { maxWaitingPerShare = maxWaiting } = limits;
    this.#limits = { total, perKey: Math.min(perKey, total), maxWaiting, maxWaitingPerShare };
    this.#maxWaitMs = maxWaitMs;
  }

  /** Undefined when none are free. Never waits. */
  tryAcquire(options: Omit<AcquireOptions, "signal"> = {}): Disposable | undefined {
    const request = this.#enqueue(options);
    if (request.isGranted) return this.#toPermit(request);
    this.#leave(request);
    return undefined;
  }

  /**
   * Disposing releases the permits.
   *
   * @throws `unavailable` when too many callers wait, in total or of one owner, or the wait takes
   *   too long; the signal's reason.
   */
  async acquire(options: AcquireOptions = {}): Promise<Disposable> {
    const { signal } = options;
    signal?.throwIfAborted();
    const request = this.#enqueue(options);
    if (!request.isGranted) await this.#wait(request, signal);
    return this.#toPermit(request);
  }

  async run<T>(work: () => Promise<T>, options?: AcquireOptions): Promise<T> {
    using _permit = await this.acquire(options);
    return await work();
  }

  #enqueue({ key = "", amount = 1, ...options }: AcquireOptions): Request {
    const { total, perKey } = this.#limits;
    const shares = options.shares ?? [{ key, max: perKey }];
    const owners = shares.flatMap(({ key: owner, isCommon = false }) => (isCommon ? [] : owner));
    const request = {
      shares,
      owners: owners.length === 0 ? [""] : owners,
      amount: Math.min(amount, total, ...shares.map(({ max = total }) => max)),
      number: (this.#requests += 1),
      line: JSON.stringify(shares),
      isGranted: false,
      onGranted: () => undefined,
      onRefused: () => undefined,
    };
    this.#waiting.add(request);
    addTo(this.#lines, request.line, request);
    for (const owner of request.owners) addTo(this.#waitingOf, owner, request);
    if (this.#hasFree || request.amount === 0) this.#grantWaiting();
    return request;
  }

  async #wait(request: Request, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    request.onGranted = resolve;
    const giveUp = (reason: unknown): void => {
      if (!this.#leave(request)) return;
      reject(reason);
      if (this.#hasFree) this.#grantWaiting();
    };
    request.onRefused = () => giveUp(unavailable());
    const onAbort = (): void => giveUp(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer =
      this.#maxWaitMs === undefined ? undefined : setTimeout(request.onRefused, this.#maxWaitMs);
    this.#findExcess(request)?.onRefused();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Otherwise the queue is not looked through, which under overload would cost every request. */
  get #hasFree(): boolean {
    return this.#used < this.#limits.total;
  }

  /** The request that must go, because too many wait, in total or of the owner of this new one. */
  #findExcess(request: Request): Request | undefined {
    const { maxWaiting, maxWaitingPerShare } = this.#limits;
    const own = request.owners.map((owner) => this.#waitingOf.get(owner) ?? new Set<Request>());
    if (own.some((queue) => queue.size > maxWaitingPerShare)) return request;
    if (this.#waiting.size <= maxWaiting) return undefined;
    // Of equal ones, the owner of the new request.
    const largest = [...own, ...this.#waitingOf.values()].reduce(
      (most, queue) => (queue.size > most.size ? queue : most),
      new Set([request]),
    );
    return [...largest].at(-1);
  }

  #leave(request: Request): boolean {
    removeFrom(this.#lines, request.line, request);
    for (const owner of request.owners) removeFrom(this.#waitingOf, owner, request);
    return this.#waiting.delete(request);
  }

  /**
   * The first request of each line, in the order in which they are granted; those of owners with a
   * permit apart, if they have a share of the free ones. What waits behind a first request is not
   * looked at, because it needs room in the same shares.
   */
  #firsts(): readonly [withoutPermit: Request[], withPermit: Request[]] {
    const firsts = [...this.#lines.values()].flatMap(([first]) => first ?? []);
    const byPermit = Map.groupBy(
      firsts.toSorted((a, b) => a.number - b.number),
      ({ shares }) =>
        shares.some(({ key, perFree }) => perFree !== undefined && this.#usedByKey.has(key)),
    );
    return [byPermit.get(false) ?? [], byPermit.get(true) ?? []];
  }

  #grantWaiting(): void {
    const keysInOrder = new Set<string>();
    for (const firsts of this.#firsts())
      // Grows while it is gone through.
      for (const request of firsts) {
        const { shares, amount } = request;
        const full = shares.filter(
          (share) => keysInOrder.has(share.key) || !this.#hasRoom(share, amount),
        );
        if (full.length > 0) {
          // Later requests of this owner wait until this one is granted.
          for (const { key } of full) keysInOrder.add(key);
          continue;
        }
        if (this.#used + amount > this.#limits.total) return;
        this.#grant(request);
        this.#addNextOf(request, firsts);
      }
  }

  #grant(request: Request): void {
    this.#leave(request);
    this.#add(request.shares, request.amount);
    request.isGranted = true;
    request.onGranted();
  }

  /** Adds the request behind a granted one to the first requests. */
  #addNextOf({ line }: Request, firsts: Request[]): void {
    const [next] = this.#lines.get(line) ?? [];
    if (next === undefined) return;
    const place = firsts.findLastIndex(({ number }) => number < next.number) + 1;
    firsts.splice(place, 0, next);
  }

  #hasRoom({ key, max = Infinity, perFree = Infinity }: Share, amount: number): boolean {
    const used = this.#usedByKey.get(key) ?? 0;
    if (used === 0) return amount <= max;
    const free = this.#limits.total - this.#used;
    return used + amount <= Math.min(max, perFree * free);
  }

  #add(shares: readonly Share[], amount: number): void {
    this.#used += amount;
    for (const { key } of shares) addCount(this.#usedByKey, key, amount);
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
