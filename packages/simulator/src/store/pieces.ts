import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** With a folder, the parts survive a restart. Who stored a part must delete it. */
export class Pieces {
  readonly #folder: string | undefined;
  readonly #kept = new Map<string, Buffer>();

  constructor(dataDir?: string) {
    this.#folder = dataDir === undefined ? undefined : join(dataDir, "pieces");
  }

  put(name: string, bytes: Buffer): void {
    if (this.#folder === undefined) {
      this.#kept.set(name, bytes);
      return;
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.#folder, name), bytes, { mode: 0o600 });
  }

  #get(name: string): Buffer {
    if (this.#folder !== undefined) return readFileSync(join(this.#folder, name));
    const bytes = this.#kept.get(name);
    if (bytes === undefined) throw new Error(`the upload part ${name} does not exist`);
    return bytes;
  }

  *read(names: Iterable<string>): Generator<Buffer> {
    for (const name of names) yield this.#get(name);
  }

  drop(names: Iterable<string>): void {
    for (const name of names) {
      this.#kept.delete(name);
      if (this.#folder !== undefined) rmSync(join(this.#folder, name), { force: true });
    }
  }

  dropAll(): void {
    this.#kept.clear();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
