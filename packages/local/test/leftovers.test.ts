import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { childExit } from "#src/processes/child-exit.ts";
import { writeJsonFile } from "#src/processes/json-file.ts";
import { claimFolder, findLauncher, recordProcesses } from "#src/processes/leftovers.ts";
import { identifyProcess } from "#src/processes/process-identity.ts";
import { type Layout, layoutOf } from "#src/stack/layout.ts";

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

test("a second launcher of a local stack on the same data folder is refused with one line that names the process of the first launcher", async () => {
  using _claim = await claimFolder(layout);

  expect(findLauncher(layout)).toEqual(identifyProcess(process.pid));
  await expect(claimFolder(layout)).rejects.toThrow(
    `a stack already runs on ${layout.dataDir} (process ${process.pid})`,
  );
});

/**
 * Test program: claims the data folder when a line arrives on standard input, prints whether that
 * succeeded, and keeps the claim until the process is killed.
 */
const CLAIMER = `
  const { claimFolder } = await import("#src/processes/leftovers.ts");
  const { layoutOf } = await import("#src/stack/layout.ts");
  console.log("loaded");
  process.stdin.on("data", async () => {
    try {
      globalThis.claim = await claimFolder(layoutOf(process.argv[1]));
      console.log("claimed");
    } catch (error) {
      console.log(error.message);
    }
  });`;

/** Starts a process that is ready to claim the data folder. */
async function startClaimer() {
  const child = spawn(process.execPath, ["--input-type=module", "-e", CLAIMER, layout.dataDir], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const nextLine = async () => String((await lines.next()).value);
  expect(await nextLine()).toBe("loaded");
  return { child, claim: () => child.stdin.write("claim\n"), outcome: nextLine };
}

test("exactly one of several concurrent launchers of a local stack claims the data folder, also after the last claimant was killed", async () => {
  const claimers = await Promise.all(Array.from({ length: 6 }, () => startClaimer()));
  for (let round = 1; claimers.length > 1; round += 1) {
    for (const { claim } of claimers) claim();
    const outcomes = await Promise.all(claimers.map(({ outcome }) => outcome()));

    const winners = outcomes.filter((outcome) => outcome === "claimed");
    expect(winners, `round ${round}: ${outcomes.join(", ")}`).toHaveLength(1);
    const [winner] = claimers.splice(outcomes.indexOf("claimed"), 1);
    for (const outcome of outcomes.filter((each) => each !== "claimed"))
      expect(outcome).toContain("a stack already runs on");
    winner?.child.kill("SIGKILL");
    if (winner !== undefined) await childExit(winner.child);
  }
});

test("a data folder can be claimed again after the launcher of the local stack released it", async () => {
  (await claimFolder(layout))[Symbol.dispose]();

  expect(findLauncher(layout)).toBeUndefined();
  using _claim = await claimFolder(layout);
  expect(findLauncher(layout)).toEqual(identifyProcess(process.pid));
});

test("the next launcher of a local stack ends the processes that a killed launcher left behind, even if SIGSTOP stopped them", async () => {
  const launcher = sleeper();
  const [running, stopped] = [sleeper(), sleeper()];
  writeJsonFile(layout.launcherFile, identifyProcess(launcher.pid));
  recordProcesses(layout, [running.pid, stopped.pid]);
  stopped.kill("SIGSTOP");
  launcher.kill("SIGKILL");
  await childExit(launcher);

  using _claim = await claimFolder(layout);

  expect(await childExit(running)).toBe("SIGTERM");
  expect(await childExit(stopped)).toBe("SIGTERM");
});

test("the next launcher of a local stack does not end another program's process that now has the pid of a recorded process", async () => {
  const innocent = sleeper();
  const identity = identifyProcess(innocent.pid);
  writeJsonFile(layout.processesFile, [{ ...identity, startTicks: 1 }]);

  using _claim = await claimFolder(layout);

  expect(identifyProcess(innocent.pid)).toEqual(identity);
});

test("the next launcher of a local stack removes the description file and the hold files of an earlier stack", async () => {
  {
    using _earlier = await claimFolder(layout);
    writeFileSync(join(layout.hold, "posts"), "");
  }
  writeJsonFile(layout.localFile, {});

  using _claim = await claimFolder(layout);

  expect(existsSync(join(layout.hold, "posts"))).toBe(false);
  expect(existsSync(layout.localFile)).toBe(false);
});

test("on a copy of the data folder of a running launcher, such as a restored backup, its processes go on", async () => {
  const launcher = sleeper();
  const service = sleeper();
  writeJsonFile(layout.launcherFile, identifyProcess(launcher.pid));
  recordProcesses(layout, [service.pid]);

  using _claim = await claimFolder(layout);

  expect(identifyProcess(service.pid)).toBeDefined();
  expect(service.exitCode ?? service.signalCode).toBeNull();
  expect(findLauncher(layout)).toEqual(identifyProcess(process.pid));
});
