import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

const OFFSET = "offsetMs";

/** Between resets this clock never goes back. */
export class Clock {
  readonly #row: Table<number>;
  readonly #machineTime: () => number;
  #latest = 0;

  constructor(store: Store, machineTime: () => number) {
    this.#machineTime = machineTime;
    this.#row = store.table<number>("clock");
    store.onReset(() => {
      this.#latest = 0;
    });
  }

  now(): number {
    this.#latest = Math.max(this.#latest, this.#machineTime() + this.offsetMs);
    return this.#latest;
  }

  get offsetMs(): number {
    return this.#row.get(OFFSET) ?? 0;
  }

  advance(ms: number): void {
    this.#row.put(OFFSET, this.offsetMs + ms);
  }
}
