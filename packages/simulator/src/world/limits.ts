import type { Store, Table } from "#src/store/store.ts";
import type { Settings } from "#src/world/settings.ts";

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The first use after the end of a window begins a new window. */
export interface LimitRule {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly cost?: number;
}

export interface LimitStanding {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
  readonly windowMs: number;
}

export interface Spending {
  readonly allowed: boolean;
  readonly standings: readonly LimitStanding[];
}

interface Window {
  readonly startedAt: number;
  readonly used: number;
}

/** With the setting `quotas: false`, every use is allowed and nothing is counted. */
export class Limits {
  readonly #windows: Table<Window>;
  readonly #settings: Settings;

  constructor(store: Store, settings: Settings) {
    this.#windows = store.table<Window>("limits");
    this.#settings = settings;
  }

  /** When one limit is exhausted, all counters stay as they are. */
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

  /** Counts one use against a limit; false when the limit is exhausted. */
  take(rule: LimitRule, now: number): boolean {
    return this.spend([rule], now).allowed;
  }

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
