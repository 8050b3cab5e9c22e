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
export class Journal implements Disposable {
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
