import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Settings } from "#src/world/settings.ts";

/**
 * A rate limit of a simulated platform: a number of units per window. The first use after the end
 * of a window begins a new window.
 */
export interface LimitRule {
  /** Name of the counter of a rate limit, for example `x:create:<user id>`. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Number of units that one use of the rate limit costs; 1 by default. */
  readonly cost?: number;
}

/** The state of a rate limit of a simulated platform after a use. */
export interface LimitStanding {
  readonly limit: number;
  readonly remaining: number;
  /** When the window of the rate limit ends, in Unix milliseconds of the simulator's clock. */
  readonly resetAt: number;
  readonly windowMs: number;
}

export interface Spending {
  readonly allowed: boolean;
  /** The state of each rate limit after a use, in the order of the given rules. */
  readonly standings: readonly LimitStanding[];
}

interface Window {
  readonly startedAt: number;
  readonly used: number;
}

/**
 * Counts uses against the rate limits of the simulated platforms. With the setting `quotas: false`,
 * every use is allowed and nothing is counted.
 */
export class Limits {
  readonly #windows: Table<Window>;
  readonly #settings: Settings;

  constructor(store: Store, settings: Settings) {
    this.#windows = store.table<Window>("limits");
    this.#settings = settings;
  }

  /**
   * Counts one use against all given rate limits. When one of the limits is exhausted, refuses the
   * use and leaves all counters as they are.
   */
  spend(rules: readonly LimitRule[], now: number): Spending {
    const quotas = this.#settings.values.quotas;
    const windows = rules.map((rule) => this.#window(rule, now));
    const allowed =
      !quotas || rules.every((rule, i) => used(windows, i) + cost(rule) <= rule.limit);
    const standings = rules.map((rule, i): LimitStanding => {
      const startedAt = windows[i]?.startedAt ?? now;
      const spent = used(windows, i) + (allowed && quotas ? cost(rule) : 0);
      if (allowed && quotas) this.#windows.put(rule.key, { startedAt, used: spent });

      const remaining = quotas ? Math.max(0, rule.limit - spent) : rule.limit;
      const { limit, windowMs } = rule;
      return { limit, remaining, resetAt: startedAt + windowMs, windowMs };
    });
    return { allowed, standings };
  }

  /** Returns the state of a rate limit without counting a use. */
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
