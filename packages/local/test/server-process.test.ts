import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { poll } from "#src/processes/poll.ts";
import { identifyProcess } from "#src/processes/process-identity.ts";

test("a server that never listens ends when the process that starts it is killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const logFile = join(folder, "log");
  const script = `
    import { readFileSync } from "node:fs";
    import { startServerProcess } from ${JSON.stringify(join(import.meta.dirname, "../src/processes/server-process.ts"))};
    import { poll } from ${JSON.stringify(join(import.meta.dirname, "../src/processes/poll.ts"))};
    void startServerProcess({
      name: "A server",
      program: "/bin/sh",
      args: ["-c", "echo $$; exec sleep 600"],
      env: {},
      port: 1,
      logFile: ${JSON.stringify(logFile)},
      graceMs: 1_000,
    });
    const readPid = () => readFileSync(${JSON.stringify(logFile)}, "utf8") || undefined;
    const pid = await poll(readPid, { everyMs: 20, timeoutMs: 10_000 });
    process.stdout.write(pid, () => process.kill(process.pid, "SIGKILL"));
  `;
  const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = Number(await new Response(starter.stdout).text());

  const gone = await poll(() => (identifyProcess(pid) === undefined ? true : undefined), {
    everyMs: 20,
    timeoutMs: 10_000,
  });

  expect(pid).toBeGreaterThan(0);
  expect(gone).toBe(true);
});
