export type Change = readonly [table: string, key: string, value?: unknown];

/** Rows in the order of their first insertion. A row is replaced, never changed in place. */
export class Table<T> {
  readonly #name: string;
  readonly #rows: Map<string, T>;
  readonly #record: (change: Change) => void;

  constructor(name: string, rows: Map<string, T>, record: (change: Change) => void) {
    this.#name = name;
    this.#rows = rows;
    this.#record = record;
  }

  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  put(key: string, row: T): void {
    this.#rows.set(key, row);
    this.#record([this.#name, key, row]);
  }

  delete(key: string): boolean {
    const existed = this.#rows.delete(key);
    if (existed) this.#record([this.#name, key]);

    return existed;
  }

  keys(): MapIterator<string> {
    return this.#rows.keys();
  }

  values(): MapIterator<T> {
    return this.#rows.values();
  }

  entries(): MapIterator<[string, T]> {
    return this.#rows.entries();
  }

  clear(): void {
    this.#rows.clear();
  }
}
