/**
 * A map with a maximum number of entries, in the order of their last `set`. A new entry in a full map evicts the oldest
 * entry.
 */
export class BoundedMap<K, V> {
  readonly #maxEntries: number;
  readonly #entries = new Map<K, V>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Adds or replaces an entry of the map, which is the newest entry afterwards. */
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

  /** Returns the values of the map's entries, from the oldest to the newest. */
  values(): MapIterator<V> {
    return this.#entries.values();
  }

  /** Deletes the oldest entries of the map up to the first entry that is not expired. */
  deleteOldestWhile(isExpired: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) {
      if (!isExpired(value)) return;
      this.#entries.delete(key);
    }
  }
}
