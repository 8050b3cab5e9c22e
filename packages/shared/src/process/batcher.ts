interface Waiting<I, R> {
  readonly item: I;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** So one statement or one RPC handles the items of several callers. */
export class Batcher<I, R> {
  readonly #flush: (items: readonly I[]) => Promise<readonly R[]>;
  readonly #windowMs: number;
  readonly #maxItems: number;
  readonly #patienceMs: number;
  readonly #running = new Set<Promise<void>>();
  #waiting: Waiting<I, R>[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The batch whose end further items wait for. */
  #current: Promise<void> | undefined;

  /**
   * @param options.windowMs How long the first item waits for further ones.
   * @param options.maxItems A batch that has as many is handled at once.
   * @param options.patienceMs How long further items wait for the end of the batch that is handled.
   *   They form the next batch, so batches grow with the load. A batch that takes longer, because
   *   something cannot be written, delays no others. Default: 0, batches do not wait for each
   *   other.
   * @param options.flush Returns one result per item, in their order. If it throws, every `submit`
   *   of the batch rejects.
   */
  constructor(options: {
    readonly windowMs: number;
    readonly maxItems: number;
    readonly patienceMs?: number;
    readonly flush: (items: readonly I[]) => Promise<readonly R[]>;
  }) {
    this.#flush = options.flush;
    this.#windowMs = options.windowMs;
    this.#maxItems = options.maxItems;
    this.#patienceMs = options.patienceMs ?? 0;
  }

  submit(item: I): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    this.#waiting.push({ item, resolve, reject });
    if (this.#current !== undefined) return promise;
    if (this.#waiting.length >= this.#maxItems) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#windowMs);
    return promise;
  }

  async drain(): Promise<void> {
    while (this.#waiting.length > 0) this.#start();
    await Promise.all(this.#running);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const run = this.#write(this.#waiting.splice(0, this.#maxItems)).finally(() =>
      this.#running.delete(run),
    );
    this.#running.add(run);
    if (this.#patienceMs > 0) void this.#waitFor(run);
  }

  async #waitFor(run: Promise<void>): Promise<void> {
    this.#current = run;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#patienceMs);
    await Promise.race([run, end]);
    clearTimeout(timer);
    if (this.#current !== run) return;
    this.#current = undefined;
    this.#start();
  }

  async #write(batch: readonly Waiting<I, R>[]): Promise<void> {
    try {
      const results = await this.#flush(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
