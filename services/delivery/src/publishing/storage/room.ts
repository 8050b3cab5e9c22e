/** A limited amount of disk space for downloaded media, given to the requests in the order of their arrival. */
export class Room {
  readonly #size: number;
  #free: number;
  readonly #waiting: { readonly amount: number; readonly go: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /**
   * Waits for the requested amount of disk space; disposing of the result frees the space. A request for more than the
   * whole amount waits until all other space is free.
   *
   * @throws The signal's reason if the signal is aborted first.
   */
  async take(amount: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const taken = Math.min(amount, this.#size);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const place = { amount: taken, go: resolve };
    this.#waiting.push(place);
    const leave = (): void => {
      const index = this.#waiting.indexOf(place);
      if (index === -1) return;
      this.#waiting.splice(index, 1);
      reject(signal.reason as Error);
      this.#grant();
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#grant();
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
    return this.#hold(taken);
  }

  #grant(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (first.amount > this.#free) return;
      this.#waiting.shift();
      this.#free -= first.amount;
      first.go();
    }
  }

  #hold(amount: number): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#free += amount;
        this.#grant();
      },
    };
  }
}
