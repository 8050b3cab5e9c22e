import { EventEmitter } from "node:events";
import type { Logger as PinoLogger } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger, writeBatched } from "./logger.ts";
import { runInContext } from "./request-context.ts";

function openLog() {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  const logger = createLogger({ service: "test", level: "trace", destination });
  // Code that is not checked by the compiler may log anything.
  return { lines, logger, unchecked: logger as unknown as PinoLogger };
}

const SECRET = "canary-of-a-secret";

/** Properties that libraries attach to errors. */
class HttpError extends Error {
  override name = "HttpError";
  readonly code = "ECONNRESET";
  readonly request = { headers: { authorization: `Bearer ${SECRET}` } };
  readonly parameters = [SECRET];
}

test("fields that are not on the allow-list are not logged", () => {
  const { lines, unchecked } = openLog();

  unchecked.info(
    {
      platform: "x",
      content: SECRET,
      token: SECRET,
      headers: { authorization: SECRET },
      post: { text: SECRET },
    },
    "published",
  );

  expect(lines).toEqual([
    {
      level: "info",
      time: expect.any(String),
      service: "test",
      pid: process.pid,
      platform: "x",
      msg: "published",
    },
  ]);
});

test("a field that would not be logged is refused by the compiler, also in an object that was made before", () => {
  const { lines, logger } = openLog();
  const fields = { platform: "x", content: SECRET };

  // @ts-expect-error `content` is not on the allow-list.
  logger.info({ content: SECRET }, "a literal");
  // @ts-expect-error `content` is not on the allow-list.
  logger.info(fields, "an object");
  // @ts-expect-error `content` is not on the allow-list.
  logger.info({ platform: "x", ...fields }, "a spread object");
  logger.info({ mediaId: "m", group: "g", workspaceIds: ["w"], permissions: ["p"] }, "allowed");

  expect(lines.at(-1)).toMatchObject({ mediaId: "m", group: "g", workspaceIds: ["w"] });
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test("an error is logged with its name, message, code and stack only", () => {
  const { lines, logger } = openLog();

  logger.error({ err: new HttpError("no connection") }, "failed");

  expect(Object.keys(lines[0]?.err as object).toSorted()).toEqual([
    "code",
    "message",
    "stack",
    "type",
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test("the allow-list also applies to objects and errors that are logged as a whole", () => {
  const { lines, unchecked } = openLog();

  unchecked.warn({ authorization: SECRET });
  unchecked.error(new HttpError("no connection"));

  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test("a log line written while a request is handled contains the request's id, workspace and trace", () => {
  const { lines, logger } = openLog();
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  runInContext({ requestId: "r1", workspaceId: "w1", traceparent }, () => logger.info("inside"));
  runInContext({ requestId: "r2" }, () => logger.info("inside"));
  logger.info("outside");

  const ids = lines.map((line) => [line.requestId, line.workspaceId, line.trace_id]);
  expect(ids).toEqual([
    ["r1", "w1", "4bf92f3577b34da6a3ce929d0e0e4736"],
    ["r2", undefined, undefined],
    [undefined, undefined, undefined],
  ]);
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * An output that collects lines until it is flushed, like pino's; while it is busy, a flush does
 * nothing.
 */
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
