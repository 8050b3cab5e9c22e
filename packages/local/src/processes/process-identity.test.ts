import { expect, test } from "vitest";
import { identifyProcess, parseProcStat, stillRuns } from "#src/processes/process-identity.ts";

test("a process is distinguished by its start time and boot id from another process with the same pid", () => {
  const self = identifyProcess(process.pid);

  expect(self && stillRuns(self)).toBe(true);
  expect(self && stillRuns({ ...self, startTicks: self.startTicks - 1 })).toBe(false);
  expect(self && stillRuns({ ...self, bootId: "another boot" })).toBe(false);
});

test("a command name with spaces and parentheses does not shift the other fields of `/proc/<pid>/stat`", () => {
  const rest = Array.from({ length: 40 }, (_, index) => String(index + 4)).join(" ");

  expect(parseProcStat(`42 (a) b (c) S ${rest}`)).toEqual({ state: "S", startTicks: 22 });
});

test("a text that is not a line of `/proc/<pid>/stat` is parsed as undefined", () => {
  expect(parseProcStat("")).toBeUndefined();
});
