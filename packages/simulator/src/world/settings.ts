import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface SettingValues {
  /** Whether the simulated platforms apply their rate limits, daily limits and container limits. */
  readonly quotas: boolean;
  /** Delay of every response of the simulated platforms, in milliseconds. */
  readonly latencyMs: number;
  /**
   * What the OAuth authorization pages do: ask the user, always approve (for a new account), or
   * always deny.
   */
  readonly authorize: "ask" | "approve" | "deny";
  /**
   * Whether the platforms have audited the publishing apps. YouTube makes the uploads of an app
   * that is not audited private.
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
