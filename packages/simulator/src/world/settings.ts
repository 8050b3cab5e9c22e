import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface SettingValues {
  /** Whether rate limits, daily limits and container limits apply. */
  readonly quotas: boolean;
  /** Delay of every answer of a platform, in milliseconds. */
  readonly latencyMs: number;
  /** Whether authorize pages ask the person, always approve (for a new account) or always deny. */
  readonly authorize: "ask" | "approve" | "deny";
  /**
   * Whether the apps have passed the platforms' audits. YouTube makes the uploads of an app without an audit private.
   */
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
