import { Journal } from "#src/store/journal.ts";
import { Table } from "#src/store/table.ts";
import type { Change } from "#src/store/table.ts";

/** A journal with more dead changes than this, and more dead than live ones, is rewritten at the start. */
const COMPACT_ABOVE = 10_000;

interface KnownTable {
  readonly table: Table<unknown>;
  readonly keptOnReset: boolean;
}

/**
 * All state of the simulator: named tables whose changes are gathered and written as one journal line per `commit`,
 * so that a kill keeps or loses a request's effects as a whole. Without a folder it lives in memory only.
 */
export class Store implements Disposable {
  readonly #journal: Journal | undefined;
  readonly #loaded = new Map<string, Map<string, unknown>>();
  readonly #tables = new Map<string, KnownTable>();
  readonly #onReset: (() => void)[] = [];
  #pending: Change[] = [];

  constructor(dataDir?: string) {
    if (dataDir === undefined) {
      return;
    }
    const { journal, lines } = Journal.open(dataDir);
    this.#journal = journal;
    const changes = this.#replay(lines);
    const live = this.#loaded.values().reduce((sum, rows) => sum + rows.size, 0);
    if (changes - live > Math.max(COMPACT_ABOVE, live)) {
      journal.rewrite([JSON.stringify(snapshot(this.#loaded))]);
    }
  }

  /** The table of this name, filled with what an earlier process committed. Each name has one owner. */
  table<T>(name: string, options: { readonly keptOnReset?: boolean } = {}): Table<T> {
    const rows = this.#loaded.get(name) ?? new Map<string, unknown>();
    this.#loaded.set(name, rows);
    const table = new Table<unknown>(name, rows, (change) => this.#pending.push(change));
    this.#tables.set(name, { table, keptOnReset: options.keptOnReset ?? false });
    // The owner of the name wrote every row, so they have its type.
    return table as Table<T>;
  }

  /** Writes what changed since the last commit; returns when a kill can no longer lose it. */
  commit(): void {
    if (this.#pending.length === 0) {
      return;
    }
    const changes = this.#pending;
    this.#pending = [];
    this.#journal?.append(JSON.stringify(changes));
  }

  /** Runs after every reset; owners of indexes forget them there. */
  onReset(listener: () => void): void {
    this.#onReset.push(listener);
  }

  /** Empties every table that is not kept, also on disk. */
  reset(): void {
    for (const { table, keptOnReset } of this.#tables.values()) {
      if (!keptOnReset) {
        table.clear();
      }
    }
    this.#pending = [];
    this.#journal?.rewrite([JSON.stringify(snapshot(this.#loaded))]);
    for (const listener of this.#onReset) {
      listener();
    }
  }

  [Symbol.dispose](): void {
    this.commit();
    this.#journal?.[Symbol.dispose]();
  }

  #replay(lines: readonly string[]): number {
    let count = 0;
    for (const line of lines) {
      const changes = JSON.parse(line) as Change[];
      count += changes.length;
      for (const [name, key, value] of changes) {
        const rows = this.#loaded.get(name) ?? new Map<string, unknown>();
        this.#loaded.set(name, rows);
        if (value === undefined) {
          rows.delete(key);
        } else {
          rows.set(key, value);
        }
      }
    }
    return count;
  }
}

function snapshot(tables: ReadonlyMap<string, ReadonlyMap<string, unknown>>): Change[] {
  const changes: Change[] = [];
  for (const [name, rows] of tables) {
    for (const [key, value] of rows) {
      changes.push([name, key, value]);
    }
  }
  return changes;
}
