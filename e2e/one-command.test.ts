import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findStablePort, probePort } from "@postrider/local/processes/free-port";
import { identifyProcess, type ProcessIdentity } from "@postrider/local/processes/process-identity";
import type { LocalStack } from "@postrider/local/stack/local-file";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

let dataDir: string;
let port: number;
/**
 * The launcher that is running. The tests below run in order on one stack, because each start takes
 * seconds.
 */
let running: Run | undefined;

beforeAll(async () => {
  dataDir = makeTestFolder("command");
  port = await findStablePort();
});

afterAll(async () => {
  running?.child.kill("SIGINT");
  await running?.ended();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  output(): string;
  ended(): Promise<number | null>;
}

/** Starts the process that `npm run <command>` starts. */
function run(command: string, args: readonly string[] = [], folder = dataDir): Run {
  const child = spawn(process.execPath, [join(ROOT, "scripts/bootstrap.mjs"), command, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, POSTRIDER_DATA_DIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });

  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  return { child, output: () => output, ended: () => promise };
}

async function startReady(): Promise<Run> {
  const started = run("start", ["--port", String(port)]);
  running = started;
  const hasEnded = () => started.child.exitCode !== null || started.child.signalCode !== null;
  await eventually(() => started.output().includes("Postrider is ready") || hasEnded());
  expect(started.output()).toContain("Postrider is ready");
  return started;
}

function local(): LocalStack {
  return JSON.parse(readFileSync(join(dataDir, "local.json"), "utf8")) as LocalStack;
}

/** The file with the generated secrets and the API key of the stack. */
function readSecrets(): string {
  return readFileSync(join(dataDir, "secrets.json"), "utf8");
}

/** Every process of the stack, the launcher included. */
function processes(): ProcessIdentity[] {
  const { services, postgres, simulator } = local();
  const launcher = JSON.parse(readFileSync(join(dataDir, "launcher.json"), "utf8")) as {
    pid: number;
  };
  return [
    launcher.pid,
    simulator.pid,
    postgres?.pid ?? 0,
    ...Object.values(services).flatMap((replicas) => replicas.map(({ pid }) => pid)),
  ].map((pid) => identifyProcess(pid) ?? { pid, startTicks: 0, bootId: "is not running" });
}

/** Every port on which the stack listens. */
function ports(): number[] {
  const { services, postgres, simulatorUrl } = local();
  const urls = Object.values(services).flatMap((replicas) =>
    replicas.flatMap(({ url, metricsUrl }) => [url, metricsUrl]),
  );
  return [postgres?.port ?? 0, ...[simulatorUrl, ...urls].map((url) => Number(new URL(url).port))];
}

/** Stops the launcher as Ctrl-C does, and checks that it ends with exit code 0. */
async function stop(): Promise<void> {
  running?.child.kill("SIGINT");
  expect(await running?.ended()).toBe(0);
  running = undefined;
}

async function expectNothingLeft(before: readonly ProcessIdentity[], used: readonly number[]) {
  await eventually(() => before.every(({ pid }) => identifyProcess(pid) === undefined));
  for (const each of used) expect(await probePort(each)).toBe(each);
}

test("`npm run demo` starts a stack, publishes to every platform, and leaves no process running", async () => {
  const demo = run("demo", ["--port", String(port)]);

  expect(await demo.ended(), demo.output()).toBe(0);

  expect(demo.output()).toMatch(/^16 of 16 published and visible/m);
  const kinds = {
    text: ["x", "facebook", "telegram", "bluesky"],
    image: ["instagram", "x", "facebook", "tiktok", "telegram", "bluesky"],
    video: ["x", "facebook", "tiktok", "youtube", "telegram", "bluesky"],
  };
  for (const [kind, platforms] of Object.entries(kinds))
    for (const platform of platforms) {
      // TikTok returns the address of a post some time after publishing it.
      const permalink = platform === "tiktok" ? "(–|https://)" : "https://";
      const row = new RegExp(`^  ${platform} .* ${kind} +published +yes +${permalink}`, "m");
      expect(demo.output()).toMatch(row);
    }
  expect(await probePort(port)).toBe(port);
});

test("`npm start` after a killed launcher first ends the processes that it left behind, and keeps the API key and accounts", async () => {
  await startReady();
  const secrets = readSecrets();
  const { apiKey, workspaceId, accounts } = local();
  const [before, used] = [processes(), ports()];
  expect(before.map(({ bootId }) => bootId)).not.toContain("is not running");
  process.kill(before[0]?.pid ?? 0, "SIGKILL");
  await running?.ended();

  const second = await startReady();
  await eventually(() => before.every(({ pid }) => identifyProcess(pid) === undefined));
  const [gateway] = local().services.gateway;
  expect(used).toContain(Number(new URL(gateway?.url ?? "").port));
  expect(local()).toMatchObject({ apiKey, workspaceId, accounts });
  expect(readSecrets()).toBe(secrets);
  expect(second.output()).toContain(`http://127.0.0.1:${port}/api/v1`);
  const [link = ""] = /\S+\/app\/login#[\w-]{43}/.exec(second.output()) ?? [];
  expect(link).toContain(`http://127.0.0.1:${port}/app/login#`);
  expect(await (await fetch(link)).text()).toContain('<div id="root">');
});

test("`npm run demo` uses a stack that is already running", async () => {
  const demo = run("demo");
  expect(await demo.ended(), demo.output()).toBe(0);
  expect(demo.output()).not.toContain("starting one");
});

test("`npm start` fails with one line that names a stack that is already running, or the port that is taken", async () => {
  const sameFolder = run("start", ["--port", String(port)]);
  expect(await sameFolder.ended()).toBe(1);
  expect(sameFolder.output()).toMatch(/^postrider: a stack already runs on .* \(process \d+\)\n$/m);

  const otherFolder = makeTestFolder("command");
  const samePort = run("start", ["--port", String(port)], otherFolder);
  expect(await samePort.ended()).toBe(1);
  expect(samePort.output()).toContain(
    `postrider: port ${port} is taken: stop what listens there, or choose another one with --port N\n`,
  );
  rmSync(otherFolder, { recursive: true, force: true });
});

test("Ctrl-C leaves no process running and keeps the secrets of the stack", async () => {
  const secrets = readSecrets();
  const [before, used] = [processes(), ports()];
  expect(before.map(({ bootId }) => bootId)).not.toContain("is not running");
  await stop();
  await expectNothingLeft(before, used);
  expect(existsSync(join(dataDir, "local.json"))).toBe(false);
  expect(readSecrets()).toBe(secrets);
});
