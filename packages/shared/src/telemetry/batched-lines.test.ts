import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { writeBatched } from "./batched-lines.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An output that collects lines until it is flushed, like pino's; while it is busy, a flush does nothing. */
class FakeOutput extends EventEmitter {
  readonly written: string[] = [];
  flushes = 0;
  isBusy = false;
  #waiting = "";

  write(line: string): boolean {
    this.#waiting += line;
    return true;
  }

  flush(): void {
    this.flushes += 1;
    if (this.isBusy) return;
    this.flushSync();
  }

  flushSync(): void {
    this.written.push(this.#waiting);
    const bytes = Buffer.byteLength(this.#waiting);
    this.#waiting = "";
    this.emit("write", bytes);
  }
}

test("lines of one burst are written together after 100 ms", () => {
  const output = new FakeOutput();
  const stream = writeBatched(output);

  stream.write("eins\n");
  vi.advanceTimersByTime(99);
  stream.write("zwölf\n");
  expect(output.written).toEqual([]);

  vi.advanceTimersByTime(1);
  expect(output.written).toEqual(["eins\nzwölf\n"]);
});

test("an output that no line waits for is not flushed, and needs no timer", () => {
  const output = new FakeOutput();
  const stream = writeBatched(output);
  expect(vi.getTimerCount()).toBe(0);

  stream.write("line\n");
  vi.advanceTimersByTime(200);
  expect(vi.getTimerCount()).toBe(0);
  expect(output.flushes).toBe(1);
});

test("a line that arrives while an earlier write is running is written soon after that write has ended", () => {
  const output = new FakeOutput();
  const stream = writeBatched(output);

  output.isBusy = true;
  stream.write("line\n");
  vi.advanceTimersByTime(500);
  output.isBusy = false;
  vi.advanceTimersByTime(100);
  expect(output.written).toEqual(["line\n"]);
});
