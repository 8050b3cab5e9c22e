import { randomUUID } from "node:crypto";
import { type FaultableRequest, firstMatch, staleReads } from "#src/faults/match.ts";
import type { Fault, FaultRule } from "#src/faults/rule.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export class Faults {
  readonly #rows: Table<Fault>;

  constructor(store: Store) {
    this.#rows = store.table<Fault>("faults");
  }

  add(rule: FaultRule): Fault {
    const times = rule.times ?? 1;
    const fault: Fault = { id: randomUUID(), ...rule, times, remaining: times, hits: 0 };
    this.#rows.put(fault.id, fault);
    return fault;
  }

  list(platform?: string): Fault[] {
    return [...this.#rows.values()].filter(
      (fault) => platform === undefined || fault.platform === platform,
    );
  }

  forget(id: string): boolean {
    return this.#rows.delete(id);
  }

  forgetAll(platform?: string): number {
    const forgotten = this.list(platform);
    for (const fault of forgotten) this.#rows.delete(fault.id);

    return forgotten.length;
  }

  match(request: FaultableRequest): Fault | undefined {
    const fault = firstMatch(this.#rows.values(), request);
    if (fault !== undefined)
      this.#rows.put(fault.id, {
        ...fault,
        hits: fault.hits + 1,
        remaining: fault.remaining - 1,
      });

    return fault;
  }

  /** A `stale_reads` rule is never used up. */
  readLagMs(platform: string, account: FaultableRequest["account"]): number {
    let lagMs = 0;
    for (const fault of staleReads(this.#rows.values(), platform, account)) {
      this.#rows.put(fault.id, { ...fault, hits: fault.hits + 1 });
      lagMs = Math.max(lagMs, fault.delayMs ?? 0);
    }
    return lagMs;
  }
}
