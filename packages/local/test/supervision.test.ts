import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findStablePort } from "#src/processes/free-port.ts";
import { holdPart } from "#src/processes/hold.ts";
import { startNodeProcess } from "#src/processes/node-process.ts";
import { poll } from "#src/processes/poll.ts";
import { identifyProcess } from "#src/processes/process-identity.ts";
import { SupervisedPart } from "#src/processes/supervised-part.ts";

let folder: string;
let holdDir: string;
let port: number;
let reported: string[];

const server = `
  const { createServer } = require("node:http");
  createServer((request, response) => response.end(String(process.pid))).listen(Number(process.env.PORT), "127.0.0.1");
  process.on("SIGTERM", () => process.exit(0));
`;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "postrider-supervision-"));
  holdDir = join(folder, "hold");
  mkdirSync(holdDir);
  writeFileSync(join(folder, "server.cjs"), server);
  port = await findStablePort();
  reported = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function startPart({
  onStarted = () => {},
  ...options
}: {
  restart: boolean;
  onStarted?: () => void;
}): Promise<SupervisedPart> {
  const part = new SupervisedPart(
    {
      name: "web-2",
      holdName: "web",
      start: () =>
        startNodeProcess({
          script: join(folder, "server.cjs"),
          cwd: folder,
          env: { PORT: String(port) },
          logFile: join(folder, "web.log"),
          graceMs: 5_000,
        }),
    },
    {
      holdDir,
      ...options,
      onStarted,
      report: (line) => reported.push(line),
    },
  );
  await part.start();
  part.supervise();
  await answering();
  return part;
}

/** Waits until a process answers on the port, and returns its pid. */
async function answering(other = 0): Promise<number> {
  const pid = await poll(
    async () => {
      const answered = await fetch(`http://127.0.0.1:${port}/`)
        .then((response) => response.text())
        .catch(() => "0");
      return Number(answered) > 0 && Number(answered) !== other ? Number(answered) : undefined;
    },
    { everyMs: 10, timeoutMs: 5_000 },
  );
  if (pid === undefined) throw new Error("no process answers");

  return pid;
}

async function reports(text: string): Promise<boolean> {
  const found = await poll(
    () => (reported.some((line) => line.includes(text)) ? true : undefined),
    {
      everyMs: 10,
      timeoutMs: 5_000,
    },
  );
  return found === true;
}

test("a killed process of the local stack is started again and listens on its port", async () => {
  await using part = await startPart({ restart: true });
  const first = part.pid;
  process.kill(first, "SIGKILL");

  const second = await answering(first);

  expect(part.pid).toBe(second);
});

test("a process of the local stack that is started again while the disk is full is supervised like any other", async () => {
  let isFull = false;
  const onStarted = (): void => {
    if (isFull) throw new Error("ENOSPC: no space left on device");
  };
  await using part = await startPart({ restart: true, onStarted });
  const first = part.pid;
  isFull = true;
  process.kill(first, "SIGKILL");
  expect(await reports("started again")).toBe(true);
  expect(await reports("no space left")).toBe(true);

  const second = await answering(first);
  expect(part.pid).toBe(second);
  process.kill(second, "SIGKILL");
  expect(await answering(second)).toBe(part.pid);
});

test("the recorded pid of a process of the local stack is the pid of the process that listens on the port", async () => {
  await using part = await startPart({ restart: true });

  expect(await answering()).toBe(part.pid);
});

test("a killed process of the local stack is not started again as long as a hold file for it exists", async () => {
  await using part = await startPart({ restart: true });
  const first = part.pid;
  writeFileSync(join(holdDir, "web"), "");
  process.kill(first, "SIGKILL");
  expect(await reports("stays down")).toBe(true);
  expect(identifyProcess(part.pid)).toBeUndefined();

  rmSync(join(holdDir, "web"));

  expect(await answering(first)).toBe(part.pid);
});

test("a hold file that contains the pid of its creator keeps a process of the local stack down only until the creator ends", async () => {
  await using part = await startPart({ restart: true });
  const first = part.pid;
  const holder = spawn("/bin/sleep", ["60"]);
  holdPart(holdDir, "web", holder.pid ?? 0);
  process.kill(first, "SIGKILL");
  expect(await reports("stays down")).toBe(true);

  holder.kill("SIGKILL");

  expect(await answering(first)).toBe(part.pid);
});

test("a process of the local stack that is stopped by SIGSTOP is not replaced", async () => {
  await using part = await startPart({ restart: true });
  const { pid } = part;
  process.kill(pid, "SIGSTOP");
  // The request fails after 1 s. Within this time, the supervisor would have restarted a process
  // that had ended.
  const answer = fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) });
  await expect(answer).rejects.toThrow("timeout");

  process.kill(pid, "SIGCONT");

  expect(await answering()).toBe(pid);
  expect(reported).toEqual([]);
});

test("a process of the local stack that ends stays down when restarts are turned off", async () => {
  await using part = await startPart({ restart: false });
  const { pid } = part;
  process.kill(pid, "SIGKILL");
  await part.ended();

  expect(part.pid).toBe(pid);
  expect(identifyProcess(pid)).toBeUndefined();
});

test("shutting down a process of the local stack that SIGSTOP suspended, or that a hold file keeps down, leaves no process behind", async () => {
  const stopped = await startPart({ restart: true });
  process.kill(stopped.pid, "SIGSTOP");
  await stopped[Symbol.asyncDispose]();
  expect(identifyProcess(stopped.pid)).toBeUndefined();

  const down = await startPart({ restart: true });
  writeFileSync(join(holdDir, "web"), "");
  process.kill(down.pid, "SIGKILL");
  expect(await reports("stays down")).toBe(true);
  await down[Symbol.asyncDispose]();
  expect(identifyProcess(down.pid)).toBeUndefined();
});
