import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { childExit } from "#src/child-exit.ts";
import { writeJsonFile } from "#src/json-file.ts";
import { type Layout, layoutOf } from "#src/layout.ts";
import { claimFolder, findLauncher, recordProcesses, releaseFolder } from "#src/leftovers.ts";
import { identifyProcess } from "#src/process-identity.ts";

let layout: Layout;
let children: ChildProcess[];

beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), "postrider-leftovers-")));
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    await childExit(child);
  }
  rmSync(layout.dataDir, { recursive: true, force: true });
});

function sleeper(): ChildProcess & { pid: number } {
  const child = spawn("/bin/sleep", ["600"]);
  children.push(child);
  return child as ChildProcess & { pid: number };
}

test("a second launcher of a local stack on the same data folder is refused with one line that names the first process", async () => {
  await claimFolder(layout);

  expect(findLauncher(layout)).toEqual(identifyProcess(process.pid));
  await expect(claimFolder(layout)).rejects.toThrow(
    `a stack already runs on ${layout.dataDir} (process ${process.pid})`,
  );
});

test("a data folder can be claimed again after the launcher of the local stack released it", async () => {
  await claimFolder(layout);
  releaseFolder(layout);

  expect(findLauncher(layout)).toBeUndefined();
  await expect(claimFolder(layout)).resolves.toBeUndefined();
});

test("the next launcher of a local stack ends the processes that a killed launcher left behind, even if SIGSTOP stopped them", async () => {
  const launcher = sleeper();
  const [running, stopped] = [sleeper(), sleeper()];
  writeJsonFile(layout.launcherFile, identifyProcess(launcher.pid));
  recordProcesses(layout, [running.pid, stopped.pid]);
  stopped.kill("SIGSTOP");
  launcher.kill("SIGKILL");
  await childExit(launcher);

  await claimFolder(layout);

  expect(await childExit(running)).toBe("SIGTERM");
  expect(await childExit(stopped)).toBe("SIGTERM");
});

test("the next launcher of a local stack does not end another program's process that now has the pid of a recorded process", async () => {
  const innocent = sleeper();
  const identity = identifyProcess(innocent.pid);
  writeJsonFile(layout.processesFile, [{ ...identity, startTicks: 1 }]);

  await claimFolder(layout);

  expect(identifyProcess(innocent.pid)).toEqual(identity);
});

test("the next launcher of a local stack removes an earlier stack's description and the hold files that kept its processes stopped", async () => {
  await claimFolder(layout);
  writeFileSync(join(layout.hold, "posts"), "");
  writeJsonFile(layout.localFile, {});
  releaseFolder(layout);

  await claimFolder(layout);

  expect(existsSync(join(layout.hold, "posts"))).toBe(false);
  expect(existsSync(layout.localFile)).toBe(false);
});
