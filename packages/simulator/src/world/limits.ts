import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Settings } from "#src/world/settings.ts";

/** So many units within a window that begins with the first use. */
export interface LimitRule {
  /** Names the counter, for example `x:create:<user id>`. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Units of this use; 1 unless said. */
  readonly cost?: number;
}

/** How a limit stands after a use. */
export interface LimitStanding {
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. */
  readonly resetAt: number;
  readonly windowMs: number;
}

export interface Spending {
  readonly allowed: boolean;
  /** In the order of the rules. */
  readonly standings: readonly LimitStanding[];
}

interface Window {
  readonly startedAt: number;
  readonly used: number;
}

/** Counts uses of the platforms' rate limits. With quotas off nothing is counted and everything is allowed. */
export class Limits {
  readonly #windows: Table<Window>;
  readonly #settings: Settings;

  constructor(store: Store, settings: Settings) {
    this.#windows = store.table<Window>("limits");
    this.#settings = settings;
  }

  /** Spends on all rules or, when one of them is exhausted, on none. */
  spend(rules: readonly LimitRule[], now: number): Spending {
    const quotas = this.#settings.values.quotas;
    const windows = rules.map((rule) => this.#window(rule, now));
    const allowed =
      !quotas || rules.every((rule, i) => used(windows, i) + cost(rule) <= rule.limit);
    const standings = rules.map((rule, i): LimitStanding => {
      const startedAt = windows[i]?.startedAt ?? now;
      const spent = used(windows, i) + (allowed && quotas ? cost(rule) : 0);
      if (allowed && quotas) {
        this.#windows.put(rule.key, { startedAt, used: spent });
      }
      const remaining = quotas ? Math.max(0, rule.limit - spent) : rule.limit;
      const { limit, windowMs } = rule;
      return { limit, remaining, resetAt: startedAt + windowMs, windowMs };
    });
    return { allowed, standings };
  }

  /** How a limit stands; nothing is spent. */
  read(rule: LimitRule, now: number): LimitStanding {
    const { limit, windowMs } = rule;
    const { startedAt, used: spent } = this.#window(rule, now);
    const remaining = this.#settings.values.quotas ? Math.max(0, limit - spent) : limit;
    return { limit, remaining, resetAt: startedAt + windowMs, windowMs };
  }

  #window(rule: LimitRule, now: number): Window {
    const window = this.#windows.get(rule.key);
    return window !== undefined && now < window.startedAt + rule.windowMs
      ? window
      : { startedAt: now, used: 0 };
  }
}

function used(windows: readonly Window[], index: number): number {
  return windows[index]?.used ?? 0;
}

function cost(rule: LimitRule): number {
  return rule.cost ?? 1;
}
