import { expect, test } from "vitest";
import { UsageWatch } from "./usage-watch.ts";

const LIMITS = { memoryBytes: 1000, timeMs: 4000, maxMs: 180_000, fileBytes: 20_000_000 };
const TIME = { kind: "exhausted", what: "time" };

/** Looks at a process whose every look finds one further step that used `stepMs`. */
function watch(stepMs: number, fileBytes = LIMITS.fileBytes) {
  const usageWatch = new UsageWatch({ ...LIMITS, fileBytes }, 0);
  for (let step = 0; step < 1000; step += 1) {
    const usage = { cpuMs: 500 + step * stepMs, memoryBytes: 10 };
    const end = usageWatch.look({ usage, progress: step, wallMs: step * 100 });
    if (end !== undefined) return { end, cpuMs: step * stepMs };
  }
  return undefined;
}

test("a file whose steps each stay within their limit may use 32 s of processor time, and 1 s more for each 20 MB", () => {
  expect(watch(3000)).toEqual({ end: TIME, cpuMs: 36_000 });
  expect(watch(3000, 1_000_000_000)).toEqual({ end: TIME, cpuMs: 84_000 });
  expect(watch(30)).toBeUndefined();
});

test("a step that uses more than 4 s of processor time ends the inspection, and a progress message begins the next step", () => {
  const usageWatch = new UsageWatch(LIMITS, 0);
  const look = (cpuMs: number | undefined, progress: number) =>
    usageWatch.look({
      usage: cpuMs === undefined ? undefined : { cpuMs, memoryBytes: 10 },
      progress,
      wallMs: 0,
    });
  expect([look(1000, 0), look(5000, 0), look(5000, 1), look(undefined, 1)]).toEqual(
    Array.from({ length: 4 }),
  );
  expect([look(9000, 1), look(9001, 1)]).toEqual([undefined, TIME]);
});

test("memory above its limit, 180 s in all and a minute without progress end an inspection", () => {
  const look = (memoryBytes: number, wallMs: number, startedMs = 0) => {
    const usageWatch = new UsageWatch(LIMITS, startedMs);
    usageWatch.look({ usage: undefined, progress: 0, wallMs: 0 });
    return usageWatch.look({ usage: { cpuMs: 1, memoryBytes }, progress: 0, wallMs });
  };
  expect(look(1001, 0)).toEqual({ kind: "exhausted", what: "memory" });
  expect(look(1000, 180_001)).toEqual(TIME);
  expect(look(1000, 60_001)).toEqual({ kind: "gone" });
  expect(look(1000, 60_000)).toBeUndefined();
});
