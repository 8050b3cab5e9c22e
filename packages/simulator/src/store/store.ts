import { Journal } from "#src/store/journal.ts";
import { type Change, Table } from "#src/store/table.ts";

/**
 * The journal is rewritten at the start, if there are also more outdated changes than current rows.
 */
const MIN_OUTDATED_CHANGES = 10_000;

interface KnownTable {
  readonly table: Table<unknown>;
  readonly keptOnReset: boolean;
}

/** The changes of a call are one line of the journal, so that a kill keeps or loses all of them. */
export class Store implements Disposable {
  readonly #journal: Journal | undefined;
  readonly #loaded = new Map<string, Map<string, unknown>>();
  readonly #tables = new Map<string, KnownTable>();
  readonly #onReset: (() => void)[] = [];
  #pending: Change[] = [];

  constructor(dataDir?: string) {
    if (dataDir === undefined) return;

    const { journal, lines } = Journal.open(dataDir);
    this.#journal = journal;
    const changes = this.#replay(lines);
    const live = this.#loaded.values().reduce((sum, rows) => sum + rows.size, 0);
    if (changes - live > Math.max(MIN_OUTDATED_CHANGES, live))
      journal.rewrite([JSON.stringify(snapshot(this.#loaded))]);
  }

  /** Only one module may use each table name. */
  table<T>(name: string, options: { readonly keptOnReset?: boolean } = {}): Table<T> {
    const rows = this.#loaded.get(name) ?? new Map<string, unknown>();
    this.#loaded.set(name, rows);
    const table = new Table<unknown>(name, rows, (change) => this.#pending.push(change));
    this.#tables.set(name, { table, keptOnReset: options.keptOnReset ?? false });
    return table as Table<T>;
  }

  commit(): void {
    if (this.#pending.length === 0) return;

    const changes = this.#pending;
    this.#pending = [];
    this.#journal?.append(JSON.stringify(changes));
  }

  onReset(listener: () => void): void {
    this.#onReset.push(listener);
  }

  reset(): void {
    for (const { table, keptOnReset } of this.#tables.values()) if (!keptOnReset) table.clear();

    this.#pending = [];
    this.#journal?.rewrite([JSON.stringify(snapshot(this.#loaded))]);
    for (const listener of this.#onReset) listener();
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
        if (value === undefined) rows.delete(key);
        else rows.set(key, value);
      }
    }
    return count;
  }
}

function snapshot(tables: ReadonlyMap<string, ReadonlyMap<string, unknown>>): Change[] {
  const changes: Change[] = [];
  for (const [name, rows] of tables)
    for (const [key, value] of rows) changes.push([name, key, value]);

  return changes;
}
