import { closeSync, constants, fstatSync, openSync, read, rmSync, write } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { newId } from "@postrider/shared/ids";

const { O_CREAT, O_EXCL, O_RDWR, O_DIRECTORY } = constants;
/** O_TMPFILE of open(2), which Node does not export: the new file has no name. */
const O_TMPFILE = 0o20_000_000 | O_DIRECTORY;
const MODE = 0o600;
const CHUNK_BYTES = 1024 * 1024;

const readFrom = promisify(read);
const writeTo = promisify(write);

/**
 * No other process can open it, and it disappears when it is closed. Where O_TMPFILE is missing,
 * the file is created with a name, which is removed at once.
 */
export class UnnamedFile implements Disposable {
  readonly fd: number;

  constructor(folder: string) {
    this.fd = openWithoutName(folder) ?? openAndUnlink(folder);
  }

  get bytes(): number {
    return fstatSync(this.fd).size;
  }

  async write(content: AsyncIterable<Uint8Array>): Promise<void> {
    let position = 0;
    for await (const chunk of content)
      for (let at = 0; at < chunk.length;) {
        const { bytesWritten } = await writeTo(this.fd, chunk, at, chunk.length - at, position);
        at += bytesWritten;
        position += bytesWritten;
      }
  }

  async *read(): AsyncGenerator<Buffer, void> {
    for (let position = 0; ;) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await readFrom(this.fd, buffer, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

function openWithoutName(folder: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return openSync(folder, O_TMPFILE | O_RDWR, MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EOPNOTSUPP" || code === "EISDIR") return undefined;
    throw error;
  }
}

function openAndUnlink(folder: string): number {
  const path = join(folder, `inspection-${newId()}`);
  const fd = openSync(path, O_CREAT | O_EXCL | O_RDWR, MODE);
  try {
    rmSync(path);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}
