import { spawnSync } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

// Test program that runs instead of the program of an inspection process, and reports which files,
// processes and variables it could use.

/** Returns the code of the error with which `work` fails; undefined when it succeeds. */
function errorOf(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : String(error);
  }
}

function report(): object {
  return {
    pid: process.pid,
    // oxlint-disable-next-line no-restricted-properties -- the test compares the environment
    variables: Object.keys(process.env).toSorted(),
    fileBytes: fstatSync(4).size,
    environmentOfParent: errorOf(() => readFileSync(`/proc/${process.ppid}/environ`)),
    otherFile: errorOf(() => readFileSync("/etc/hostname")),
    newFile: errorOf(() => closeSync(openSync("/tmp/postrider-sandbox-probe", "w"))),
    program: errorOf(() => spawnSync(process.execPath, ["--version"])),
  };
}

process.once("message", () => {
  process.send?.({ kind: "failed", message: JSON.stringify(report()) });
});
