import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

type Change = readonly [table: string, key: string, value?: unknown];

/** Rows in the order of their first insertion. A row is replaced, never changed in place. */
export class Table<T> {
  readonly #name: string;
  readonly #rows: Map<string, T>;
  readonly #record: (change: Change) => void;

  constructor(name: string, rows: Map<string, T>, record: (change: Change) => void) {
    this.#name = name;
    this.#rows = rows;
    this.#record = record;
  }

  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  put(key: string, row: T): void {
    this.#rows.set(key, row);
    this.#record([this.#name, key, row]);
  }

  delete(key: string): boolean {
    const existed = this.#rows.delete(key);
    if (existed) this.#record([this.#name, key]);
    return existed;
  }

  keys(): MapIterator<string> {
    return this.#rows.keys();
  }

  values(): MapIterator<T> {
    return this.#rows.values();
  }

  entries(): MapIterator<[string, T]> {
    return this.#rows.entries();
  }

  clear(): void {
    this.#rows.clear();
  }
}

const NEWLINE = 0x0a;

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
}

function splitLines(bytes: Buffer): { lines: string[]; completeBytes: number } {
  const lines: string[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(bytes.toString("utf8", start, end));
    start = end + 1;
  }
  return { lines, completeBytes: start };
}

/**
 * A file of lines that survives `kill -9`. `append` returns when the operating system has the whole
 * line. A line that a kill truncated is dropped at the next start, because the simulator had not
 * yet responded to the request that wrote it.
 */
class Journal implements Disposable {
  readonly #path: string;
  #fd: number;

  private constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  /** Only the owner of the file can read it, because it contains tokens. */
  static open(folder: string): { journal: Journal; lines: string[] } {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, "journal.ndjson");
    const { lines, completeBytes } = existsSync(path)
      ? splitLines(readFileSync(path))
      : { lines: [], completeBytes: 0 };
    const fd = openSync(path, "a", 0o600);
    ftruncateSync(fd, completeBytes);
    return { journal: new Journal(path, fd), lines };
  }

  append(line: string): void {
    writeAll(this.#fd, `${line}\n`);
  }

  /** A kill leaves either the old file or the new file. */
  rewrite(lines: readonly string[]): void {
    const next = `${this.#path}.next`;
    const fd = openSync(next, "w", 0o600);
    writeAll(fd, lines.map((line) => `${line}\n`).join(""));
    fsyncSync(fd);
    closeSync(fd);
    renameSync(next, this.#path);
    closeSync(this.#fd);
    this.#fd = openSync(this.#path, "a", 0o600);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

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
