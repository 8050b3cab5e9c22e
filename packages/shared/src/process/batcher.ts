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
  readonly #running = new Set<Promise<void>>();
  #waiting: Waiting<I, R>[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param options.windowMs How long the first item waits for further ones.
   * @param options.maxItems A batch that has as many is handled at once.
   * @param options.flush Returns one result per item, in their order. If it throws, every `submit`
   *   of the batch rejects.
   */
  constructor(options: {
    readonly windowMs: number;
    readonly maxItems: number;
    readonly flush: (items: readonly I[]) => Promise<readonly R[]>;
  }) {
    this.#flush = options.flush;
    this.#windowMs = options.windowMs;
    this.#maxItems = options.maxItems;
  }

  submit(item: I): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    this.#waiting.push({ item, resolve, reject });
    if (this.#waiting.length >= this.#maxItems) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#windowMs);
    return promise;
  }

  async drain(): Promise<void> {
    this.#start();
    await Promise.all(this.#running);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const batch = this.#waiting;
    this.#waiting = [];
    const run = this.#write(batch).finally(() => this.#running.delete(run));
    this.#running.add(run);
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
