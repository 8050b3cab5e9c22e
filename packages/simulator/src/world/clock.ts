import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

const OFFSET = "offsetMs";

/**
 * The time of all simulated platforms: the machine's time plus the time that tests have added.
 * Between resets this clock never goes back.
 */
export class Clock {
  readonly #row: Table<number>;
  readonly #machineTime: () => number;
  #latest = 0;

  /** @param machineTime Returns the machine's time in Unix milliseconds. */
  constructor(store: Store, machineTime: () => number) {
    this.#machineTime = machineTime;
    this.#row = store.table<number>("clock");
    store.onReset(() => {
      this.#latest = 0;
    });
  }

  /** The current time of the simulated platforms in Unix milliseconds. */
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
