import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { reservePort, findStablePort } from "#src/processes/free-port.ts";

const FREE_PORT = fileURLToPath(new URL("free-port.ts", import.meta.url));

test("a port that one process has reserved cannot be reserved by another process", async () => {
  const port = await findStablePort();
  const program = `
    const { reservePort } = await import(${JSON.stringify(FREE_PORT)});
    process.stdout.write(String(reservePort(${port})));`;
  const words = ["--input-type=module", "--eval", program];
  expect(execFileSync(process.execPath, words, { encoding: "utf8" })).toBe("false");
});

test.each(["ends", "is killed"])(
  "a reserved port becomes free for another reservation when the process that reserved it %s",
  (how) => {
    const program = `
    import { writeSync } from "node:fs";
    const { findStablePort } = await import(${JSON.stringify(FREE_PORT)});
    writeSync(1, String(await findStablePort()));
    if (${how === "is killed"}) process.kill(process.pid, "SIGKILL");`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
    const port = Number(stdout);
    expect(port).toBeGreaterThan(0);
    expect(reservePort(port)).toBe(true);
  },
);
