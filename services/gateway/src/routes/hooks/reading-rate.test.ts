import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchReadingRate } from "#src/routes/hooks/reading-rate.ts";

const READ_MS = 60_000;

class Connection extends EventEmitter {
  bytesWritten = 0;
  writableLength = 0;
  isDestroyed = false;

  destroy(): this {
    this.isDestroyed = true;
    this.emit("close");
    return this;
  }

  /**
   * Simulates that the gateway writes `bytes` bytes to the connection, which sends them as fast as
   * the client reads.
   */
  write(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
  }
}

let connection: Connection;
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  const server = new EventEmitter();
  stop = watchReadingRate(server, { stallMs: READ_MS, bytesPerSecond: 1_000 });
  connection = new Connection();
  server.emit("connection", connection);
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

/**
 * Lets `intervals` check intervals pass, in each of which the client reads `readBytes` bytes.
 * Returns whether the client was disconnected.
 */
function isClosedAfter(intervals: number, readBytes: number): boolean {
  for (let interval = 0; interval < intervals; interval += 1) {
    connection.writableLength -= Math.min(readBytes, connection.writableLength);
    vi.advanceTimersByTime(READ_MS);
  }
  return connection.isDestroyed;
}

test("a client that reads less than the minimum rate during an interval is disconnected", () => {
  connection.write(1_000_000);
  expect(isClosedAfter(1, 59_999)).toBe(false);
  expect(isClosedAfter(1, 59_999)).toBe(true);
});

test("a client that reads at the minimum rate is not disconnected", () => {
  connection.write(1_000_000);
  expect(isClosedAfter(16, 60_000)).toBe(false);
});

test("a client that has read everything and waits for the gateway is not disconnected", () => {
  connection.write(100);
  expect(isClosedAfter(3, 100)).toBe(false);
  connection.write(10);
  expect(isClosedAfter(1, 0)).toBe(false);
});

test("the bytes that the gateway adds to an answer do not count as bytes that the client has read", () => {
  connection.write(1_000_000);
  expect(isClosedAfter(1, 0)).toBe(false);
  connection.write(1_000_000);
  expect(isClosedAfter(1, 0)).toBe(true);
});
