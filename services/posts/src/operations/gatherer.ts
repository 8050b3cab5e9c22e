import { unavailable } from "@postrider/shared/errors";
import { PoolWait } from "@postrider/shared/postgres/pool-wait";

/** Something that a gatherer handles together with others. */
export interface Gatherable {
  /** The client whose item this is, for example the id of a workspace. */
  readonly owner: string;
  /** Texts for what only one item can have, for example an idempotency key. Items with a claim in common never share a batch. */
  readonly claims: readonly string[];
  readonly bytes: number;
}

interface Waiting<I, R> {
  readonly item: I;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
  readonly onStart: (() => void)[];
}

/** Maximum number of items in a batch. */
const MAX_ITEMS = 64;
/** Maximum size of a batch in bytes; a larger item is a batch of its own. */
const MAX_BYTES = 512 * 1024;
/** Maximum number of batches that are handled at the same time: one commits while the next one is executed. */
const MAX_RUNNING = 2;
/** How long, in milliseconds, the items of an owner are handled alone after one of them made a batch fail. */
const SUSPECT_MS = 10_000;

/**
 * Collects what is submitted while earlier batches are handled, so that one SQL statement serves many requests. An item that
 * arrives while few batches are handled does not wait for others.
 *
 * If a batch fails because of one of its items, it is halved until that item is alone, so k such items of n cost at most about
 * 2k * log2(n) batches. The owner's items are then handled alone for 10 s, so an owner makes others pay at most once in that time.
 */
export class Gatherer<I extends Gatherable, R> {
  readonly #handle: (items: readonly I[]) => Promise<readonly R[]>;
  readonly #isOfItem: (error: unknown) => boolean;
  /** For each claim, the end of the last item that has it. */
  readonly #claims = new Map<string, Promise<void>>();
  readonly #suspects = new Map<string, number>();
  readonly #wait = new PoolWait(() => this.#turn());
  #waiting: Waiting<I, R>[] = [];
  #running = 0;
  #isScheduled = false;

  /**
   * @param options.handle Handles a batch as a whole or not at all, and returns one result per item, in their order.
   * @param options.isOfItem Whether an error of `handle` may be caused by a single item, and says that nothing was handled. After
   *   any other error every `submit` of the batch rejects.
   */
  constructor(options: {
    readonly handle: (items: readonly I[]) => Promise<readonly R[]>;
    readonly isOfItem: (error: unknown) => boolean;
  }) {
    this.#handle = options.handle;
    this.#isOfItem = options.isOfItem;
  }

  /**
   * Handles an item, together with others if possible, and after earlier items that have a claim in common with it.
   *
   * @throws `unavailable` while items wait for over half a second, so that they do not pile up; nothing was handled.
   */
  async submit(item: I): Promise<R> {
    if (this.#isSuspect(item.owner)) return await this.submitAlone(item);
    if (this.#wait.isTooLong()) throw unavailable();
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const earlier = this.#claim(item, promise);
    if (earlier.length > 0) await Promise.all(earlier);
    this.#waiting.push({ item, resolve, reject, onStart: [] });
    this.#schedule();
    return await promise;
  }

  /** Handles an item at once and alone. It delays no item of another owner if it has to wait, or fails. */
  async submitAlone(item: I): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const earlier = this.#claim(item, promise);
    if (earlier.length > 0) await Promise.all(earlier);
    await this.#finish([{ item, resolve, reject, onStart: [] }]);
    return await promise;
  }

  /** Keeps the claims of an item until it was handled. Returns promises that resolve when earlier holders were handled. */
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

  /** Starts batches after all requests that are ready by now have submitted their items. */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= MAX_RUNNING) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting.length > 0 && this.#running < MAX_RUNNING) this.#start();
    });
  }

  #start(): void {
    const batch = this.#take();
    this.#running += 1;
    void this.#finish(batch).finally(() => {
      this.#running -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #take(): readonly Waiting<I, R>[] {
    let count = 0;
    let bytes = 0;
    for (const { item } of this.#waiting) {
      bytes += item.bytes;
      if (count === MAX_ITEMS || (count > 0 && bytes > MAX_BYTES)) break;
      count += 1;
    }
    const taken = this.#waiting.splice(0, count);
    for (const { onStart } of taken) for (const call of onStart) call();
    return taken;
  }

  /** Resolves when all items that wait now are handled, without waiting for the end. */
  #turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const last = this.#waiting.at(-1);
    if (last === undefined) resolve();
    else last.onStart.push(resolve);
    return promise;
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

  async #divide(batch: readonly Waiting<I, R>[], error: unknown): Promise<void> {
    const isOfItem = this.#isOfItem(error);
    if (isOfItem && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      const halves = [batch.slice(0, middle), batch.slice(middle)];
      await Promise.all(halves.map((half) => this.#finish(half)));
      return;
    }
    for (const { item, reject } of batch) {
      if (isOfItem) this.#suspect(item.owner);
      reject(error);
    }
  }

  #suspect(owner: string): void {
    const now = performance.now();
    for (const [each, until] of this.#suspects) if (until < now) this.#suspects.delete(each);
    this.#suspects.set(owner, now + SUSPECT_MS);
  }

  #isSuspect(owner: string): boolean {
    return performance.now() < (this.#suspects.get(owner) ?? 0);
  }
}
