/** In the order of their last `set`. A new entry in a full map evicts the oldest. */
export class BoundedMap<K, V> {
  readonly #maxEntries: number;
  readonly #entries = new Map<K, V>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const { value: oldest, done } = this.#entries.keys().next();
    if (done !== true) this.#entries.delete(oldest);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  values(): MapIterator<V> {
    return this.#entries.values();
  }

  /** Up to the first entry that is not expired. */
  deleteOldestWhile(isExpired: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) {
      if (!isExpired(value)) return;
      this.#entries.delete(key);
    }
  }
}
