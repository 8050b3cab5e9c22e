import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toScript } from "./steps.ts";

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a port that a walk of the cluster forwards is closed when a step of the walk fails, because the next walk forwards it to other pods", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-kubectl-"));
  try {
    const kubectl = '#!/bin/bash\necho $$ >"${0%/*}/pid"\nexec sleep 60\n';
    writeFileSync(join(folder, "kubectl"), kubectl, { mode: 0o755 });
    const forward = "kubectl -n postrider port-forward service/gateway 8080 &\n";
    const step = `${forward}until [ -s ${folder}/pid ]; do :; done\nfalse\n`;
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ""}` };

    const { status } = spawnSync("bash", ["-c", toScript([step])], { env });

    expect(status).toBe(1);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await expect.poll(() => isAlive(pid)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
