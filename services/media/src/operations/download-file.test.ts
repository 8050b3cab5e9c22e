import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { downloadFile } from "./download-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "download-"));
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

/** Starts a download of which only the first 1,000 bytes arrive. */
function startDownload(totalMs: number, headers: Readonly<Record<string, string>>) {
  const sent = Promise.withResolvers<void>();
  const body = Readable.from(
    (async function* () {
      yield Buffer.alloc(1_000);
      sent.resolve();
      await new Promise(() => {});
    })(),
  );
  const url = new URL("https://files.example.com/a");
  const answer = { url, status: 200, headers, body, [Symbol.asyncDispose]: async () => {} };
  const outcome = downloadFile(
    { send: () => Promise.resolve(answer) },
    {
      url: url.href,
      path: join(folder, "file"),
      limits: { maxImageBytes: 2_000_000, maxVideoBytes: 2_000_000 },
      totalMs,
      signal: new AbortController().signal,
      reserve: () => Promise.resolve(),
    },
  ).catch((error: unknown) => error);
  return { sent: sent.promise, outcome };
}

test.each([
  ["of unknown length", {}],
  ["of known length", { "content-length": "2000000" }],
])("a download %s fails when no byte arrives for 10 seconds", async (_, headers) => {
  const { sent, outcome } = startDownload(60_000, headers);
  await sent;
  // The download does not count the time in which it writes received bytes, so the test moves the
  // clock in steps of one second.
  for (let seconds = 0; seconds < 50; seconds += 1) {
    vi.advanceTimersByTime(1_000);
    await new Promise(setImmediate);
  }
  expect(await outcome).toMatchObject({ reason: "import_failed" });
});

test("a download of unknown length reserves the space of a video in parts, as its bytes arrive", async () => {
  const start = Buffer.concat([Buffer.from("\0\0\0\x18ftypisom"), Buffer.alloc(1_000)]);
  const body = Readable.from([start, Buffer.alloc(31_000_000), Buffer.alloc(2_000_000)]);
  const url = new URL("https://files.example.com/a");
  const answer = { url, status: 200, headers: {}, body, [Symbol.asyncDispose]: async () => {} };
  const reserved: unknown[] = [];
  await downloadFile(
    { send: () => Promise.resolve(answer) },
    {
      url: url.href,
      path: join(folder, "file"),
      limits: { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 },
      totalMs: 60_000,
      signal: new AbortController().signal,
      reserve: (space) => Promise.resolve(reserved.push(space)).then(() => undefined),
    },
  );
  expect(reserved).toEqual([
    { bytes: 1_000_000_000, part: { bytes: 32_000_000, isFirst: true } },
    { bytes: 1_000_000_000, part: { bytes: 32_000_000, isFirst: false } },
  ]);
});
