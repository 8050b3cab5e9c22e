/** The visible calls of this process that have not ended, and how long they may take yet. */
export class CallsInAir {
  readonly #until = new Set<{ readonly ms: number }>();

  /** A call begins that ends within so many milliseconds; disposing says that it has. */
  begin(callMs: number): Disposable {
    const call = { ms: performance.now() + callMs };
    this.#until.add(call);
    return { [Symbol.dispose]: () => void this.#until.delete(call) };
  }

  /** Until the last of them has ended, whole milliseconds; 0 when there is none. */
  restMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#until].map(({ ms }) => Math.ceil(ms - now)));
  }
}
