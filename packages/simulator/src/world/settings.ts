import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface SettingValues {
  /** Whether rate, daily and container limits are kept. */
  readonly quotas: boolean;
  /** How long every platform takes to answer. */
  readonly latencyMs: number;
  /** What authorize pages do: ask the person, or decide for everybody; approving stands for a new account. */
  readonly authorize: "ask" | "approve" | "deny";
  /** Whether our apps have passed the platforms' audits: without, youtube locks what is uploaded as private. */
  readonly audited: boolean;
}

const DEFAULTS: SettingValues = { quotas: true, latencyMs: 0, authorize: "ask", audited: true };

export class Settings {
  readonly #row: Table<SettingValues>;

  constructor(store: Store) {
    this.#row = store.table<SettingValues>("settings");
  }

  get values(): SettingValues {
    return { ...DEFAULTS, ...this.#row.get("values") };
  }

  change(part: Partial<SettingValues>): SettingValues {
    const values = { ...this.values, ...part };
    this.#row.put("values", values);
    return values;
  }
}
