import { getCompileCacheDir } from "node:module";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { InspectionPool } from "#src/inspection/inspection-pool.ts";

const PROBE = fileURLToPath(new URL("sandbox-probe.ts", import.meta.url));
const ENDLESS = fileURLToPath(new URL("endless-inspection.ts", import.meta.url));
const SILENT = fileURLToPath(new URL("silent-inspection.ts", import.meta.url));
const CRASHING = fileURLToPath(new URL("crashing-inspection.ts", import.meta.url));
const LIMITS = {
  maxImageBytes: 1000,
  maxVideoBytes: 1000,
  memoryBytes: 256_000_000,
  timeMs: 10_000,
};

/**
 * Runs the program `sandbox-probe.ts` as an inspection process, and returns what it reports about
 * its rights.
 */
async function probe(pool: InspectionPool, content = "file"): Promise<Record<string, unknown>> {
  const end = await pool.run({
    request: { declared: undefined, limits: LIMITS },
    open: () => Readable.from([Buffer.from(content)]),
    receive: () => Promise.resolve(),
  });
  if (end.kind !== "failed") throw new Error(JSON.stringify(end));
  return JSON.parse(end.message) as Record<string, unknown>;
}

test("each media file is inspected in a process of its own", async () => {
  await using pool = new InspectionPool({ maxWaiting: 10, program: PROBE });
  const together = await Promise.all([probe(pool), probe(pool), probe(pool)]);
  const later = await probe(pool);

  expect(new Set([...together, later].map(({ pid }) => pid)).size).toBe(4);
});

test("a file of a workspace without files in inspection comes before the waiting files of another workspace", async () => {
  await using pool = new InspectionPool({ maxWaiting: 10, program: PROBE });
  const order: string[] = [];
  const inspect = (owner: string, isSent = Promise.resolve()) =>
    pool.run({
      request: { owner, declared: undefined, limits: LIMITS },
      open: async function* () {
        order.push(owner);
        await isSent;
        yield Buffer.from("file");
      },
      receive: () => Promise.resolve(),
    });
  const sent = Promise.withResolvers<void>();
  const first = [inspect("a", sent.promise), inspect("a", sent.promise)];
  const waiting = [inspect("a"), inspect("a"), inspect("b")];
  sent.resolve();
  await Promise.all([...first, ...waiting]);

  expect(order).toEqual(["a", "a", "b", "a", "a"]);
});

test("an inspection process can read its file, has none of its parent's environment variables, and may open no other file and start no process", async () => {
  await using pool = new InspectionPool({ maxWaiting: 10, program: PROBE });
  const { pid, variables, ...found } = await probe(pool, "0123456789");

  expect(pid).not.toBe(process.pid);
  expect(variables).toEqual([
    "MALLOC_ARENA_MAX",
    ...(getCompileCacheDir() === undefined ? [] : ["NODE_COMPILE_CACHE"]),
    "UV_THREADPOOL_SIZE",
    "VIPS_CONCURRENCY",
  ]);
  expect(found).toEqual({
    fileBytes: 10,
    environmentOfParent: "ERR_ACCESS_DENIED",
    otherFile: "ERR_ACCESS_DENIED",
    newFile: "ERR_ACCESS_DENIED",
    program: "ERR_ACCESS_DENIED",
  });
});

test("an inspection process that reports progress for ever is ended, so that other files are inspected", async () => {
  await using pool = new InspectionPool({ maxWaiting: 10, program: ENDLESS, maxMs: 300 });
  const end = await pool.run({
    request: { declared: undefined, limits: LIMITS },
    open: () => Readable.from([Buffer.from("file")]),
    receive: () => Promise.resolve(),
  });

  expect(end).toEqual({ kind: "exhausted", what: "time" });
});

test.each([
  ["that crashes after it has loaded is held responsible", CRASHING, "exhausted"],
  ["that cannot be loaded is not held responsible", `${CRASHING}.missing`, "gone"],
])("a file whose inspection process has a program %s", async (_title, program, kind) => {
  await using pool = new InspectionPool({ maxWaiting: 10, program });
  const end = await pool.run({
    request: { declared: undefined, limits: LIMITS },
    open: () => Readable.from([Buffer.from("file")]),
    receive: () => Promise.resolve(),
  });

  expect(end).toMatchObject({ kind });
});

test("a file whose inspection process cannot be observed, and then ends, is not held responsible", async () => {
  const looks: string[] = [];
  const readUsage = (pid: number) => {
    looks.push(looks.length === 0 ? "read" : "not readable");
    if (looks.length === 5) process.kill(pid, "SIGKILL");
    return Promise.resolve(looks.length === 1 ? { cpuMs: 10, memoryBytes: 1000 } : undefined);
  };
  await using pool = new InspectionPool({ maxWaiting: 10, program: SILENT, readUsage });
  const end = await pool.run({
    request: { declared: undefined, limits: { ...LIMITS, timeMs: 20 } },
    open: () => Readable.from([Buffer.from("file")]),
    receive: () => Promise.resolve(),
  });

  expect(end).toEqual({ kind: "gone" });
  expect(looks.length).toBeGreaterThanOrEqual(5);
});
