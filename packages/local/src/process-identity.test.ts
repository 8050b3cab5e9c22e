import { expect, test } from "vitest";
import { identifyProcess, parseProcStat, stillRuns } from "#src/process-identity.ts";

test("a process is told from a later one with the same number by its start time", () => {
  const self = identifyProcess(process.pid);

  expect(self && stillRuns(self)).toBe(true);
  expect(self && stillRuns({ ...self, startTicks: self.startTicks - 1 })).toBe(false);
  expect(self && stillRuns({ ...self, bootId: "another boot" })).toBe(false);
});

test("a command name with spaces and parentheses does not shift the fields", () => {
  const rest = Array.from({ length: 40 }, (_, index) => String(index + 4)).join(" ");

  expect(parseProcStat(`42 (a) b (c) S ${rest}`)).toEqual({ state: "S", startTicks: 22 });
});

test("a line that is not a process state identifies no process", () => {
  expect(parseProcStat("")).toBeUndefined();
});
