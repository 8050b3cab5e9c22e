import { unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { OwnerQueues } from "#src/operations/owner-queues.ts";

export interface Gatherable {
  /** The client whose item this is, for example the id of a workspace. */
  readonly owner: string;
  /** What only one item can have; items with a claim in common never share a batch. */
  readonly claims: readonly string[];
  readonly bytes: number;
}

interface Waiting<I, R> {
  readonly item: I;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of items in a batch. */
const MAX_ITEMS = 64;
/** Maximum size of a batch in bytes; a larger item is a batch of its own. */
const MAX_BYTES = 512 * 1024;
/** One batch commits while the next one is executed. */
const MAX_RUNNING = 2;
/** How long the items of an owner are handled alone after one made a batch fail. */
const SUSPECT_MS = 10_000;
/** Each item alone needs a connection to the database. */
const ALONE = { total: 4, perKey: 2, maxWaiting: Infinity, maxWaitMs: 10_000 };

/**
 * One SQL statement serves many requests; an item does not wait while few batches run. Batches are
 * filled in turns, one item of each owner per round. A batch that fails because of an item is
 * halved until that item is alone: k such items of n cost about 2k * log2(n) batches. The owner's
 * items are then handled alone for 10 s, so an owner makes others pay at most once in that time.
 */
export class Gatherer<I extends Gatherable, R> {
  readonly #handle: (items: readonly I[]) => Promise<readonly R[]>;
  readonly #isOfItem: (error: unknown) => boolean;
  /** For each claim, the end of the last item that has it. */
  readonly #claims = new Map<string, Promise<void>>();
  readonly #suspects = new Map<string, number>();
  readonly #waiting = new OwnerQueues<Waiting<I, R>>();
  readonly #alone = new Semaphore(ALONE);
  #running = 0;
  #isScheduled = false;

  /**
   * `handle` handles a batch as a whole or not at all. `isOfItem`: a single item may be the cause,
   * and nothing was handled. After any other error every `submit` of the batch rejects.
   */
  constructor(options: {
    readonly handle: (items: readonly I[]) => Promise<readonly R[]>;
    readonly isOfItem: (error: unknown) => boolean;
  }) {
    this.#handle = options.handle;
    this.#isOfItem = options.isOfItem;
  }

  /**
   * After earlier items with a claim in common. Throws `unavailable` while items wait for over half
   * a second, so that they do not pile up; nothing was handled.
   */
  async submit(item: I): Promise<R> {
    if (this.#isSuspect(item.owner)) return await this.submitAlone(item);
    if (this.#waiting.isTooLong(item.owner)) throw unavailable();
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const earlier = this.#claim(item, promise);
    if (earlier.length > 0) await Promise.all(earlier);
    const waiting = { item, resolve, reject };
    // While it waited for its claims, its owner may have made a batch fail.
    if (this.#isSuspect(item.owner)) await this.#finishAlone(waiting);
    else this.#waiting.push(item.owner, waiting);
    this.#schedule();
    return await promise;
  }

  /**
   * Delays no item of another owner. Throws `unavailable` if its turn does not come for 10 s;
   * nothing was handled.
   */
  async submitAlone(item: I): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const earlier = this.#claim(item, promise);
    if (earlier.length > 0) await Promise.all(earlier);
    await this.#finishAlone({ item, resolve, reject });
    return await promise;
  }

  /** Returns promises that resolve when earlier holders of the claims were handled. */
  #claim({ claims }: I, handled: Promise<R>): readonly Promise<void>[] {
    const earlier = claims.flatMap((claim) => this.#claims.get(claim) ?? []);
    const ended = handled.then(
      () => undefined,
      () => undefined,
    );
    for (const claim of claims) this.#claims.set(claim, ended);
    void ended.then(() => {
      for (const claim of claims) if (this.#claims.get(claim) === ended) this.#claims.delete(claim);
    });
    return earlier;
  }

  /** After all requests that are ready by now have submitted their items. */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= MAX_RUNNING) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (!this.#waiting.isEmpty && this.#running < MAX_RUNNING) this.#start();
    });
  }

  #start(): void {
    const batch = this.#take();
    this.#running += 1;
    void this.#finish(batch).finally(() => {
      this.#running -= 1;
      if (!this.#waiting.isEmpty) this.#schedule();
    });
  }

  #take(): readonly Waiting<I, R>[] {
    let count = 0;
    let bytes = 0;
    return this.#waiting.take(({ item }) => {
      bytes += item.bytes;
      count += 1;
      return count === 1 || (count <= MAX_ITEMS && bytes <= MAX_BYTES);
    });
  }

  /** Handles a batch and settles the promises of its items. Does not reject. */
  async #finish(batch: readonly Waiting<I, R>[]): Promise<void> {
    try {
      const results = await this.#handle(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      await this.#divide(batch, error);
    }
  }

  /** Handles an item alone when it is the turn of its owner. Does not reject. */
  async #finishAlone(waiting: Waiting<I, R>): Promise<void> {
    try {
      using _turn = await this.#alone.acquire({ key: waiting.item.owner });
      await this.#finish([waiting]);
    } catch (error) {
      waiting.reject(error);
    }
  }

  async #divide(batch: readonly Waiting<I, R>[], error: unknown): Promise<void> {
    const isOfItem = this.#isOfItem(error);
    if (isOfItem && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await this.#finishTrusted(batch.slice(0, middle));
      await this.#finishTrusted(batch.slice(middle));
      return;
    }
    for (const { item, reject } of batch) {
      if (isOfItem) this.#suspect(item.owner);
      reject(error);
    }
  }

  /** Items of suspects are handled alone, and the other items do not wait for them. */
  async #finishTrusted(part: readonly Waiting<I, R>[]): Promise<void> {
    const { trusted = [], suspected = [] } = Object.groupBy(part, ({ item }) =>
      this.#isSuspect(item.owner) ? "suspected" : "trusted",
    );
    for (const waiting of suspected) void this.#finishAlone(waiting);
    if (trusted.length > 0) await this.#finish(trusted);
  }

  #suspect(owner: string): void {
    const now = performance.now();
    for (const [each, until] of this.#suspects) if (until < now) this.#suspects.delete(each);
    this.#suspects.set(owner, now + SUSPECT_MS);
    for (const waiting of this.#waiting.takeAllOf(owner)) void this.#finishAlone(waiting);
  }

  #isSuspect(owner: string): boolean {
    return performance.now() < (this.#suspects.get(owner) ?? 0);
  }
}
