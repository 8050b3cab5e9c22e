import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findStablePort, probePort } from "@postrider/local/free-port";
import type { LocalStack } from "@postrider/local/local-file";
import { identifyProcess, type ProcessIdentity } from "@postrider/local/process-identity";
import { makeTestFolder } from "@postrider/local/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

let dataDir: string;
let port: number;

beforeAll(async () => {
  dataDir = makeTestFolder("command");
  port = await findStablePort();
});

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  output(): string;
  ended(): Promise<number | null>;
}

/** What `npm run <command>` runs. */
function run(command: string, ...args: readonly string[]): Run {
  const child = spawn(process.execPath, [join(ROOT, "scripts/bootstrap.mjs"), command, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, POSTRIDER_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  return { child, output: () => output, ended: () => promise };
}

async function startReady(...args: readonly string[]): Promise<Run> {
  const started = run("start", "--port", String(port), ...args);
  await eventually(() => /Postrider is ready|^postrider: /m.test(started.output()), {
    timeoutMs: 60_000,
  });
  expect(started.output()).toContain("Postrider is ready");
  return started;
}

function local(): LocalStack {
  return JSON.parse(readFileSync(join(dataDir, "local.json"), "utf8")) as LocalStack;
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

/** All of the ports that a stack listens on. */
function ports(): number[] {
  const { services, postgres, simulatorUrl } = local();
  const urls = Object.values(services).flatMap((replicas) =>
    replicas.flatMap(({ url, metricsUrl }) => [url, metricsUrl]),
  );
  return [postgres?.port ?? 0, ...[simulatorUrl, ...urls].map((url) => Number(new URL(url).port))];
}

async function expectNothingLeft(before: readonly ProcessIdentity[], used: readonly number[]) {
  await eventually(() => before.every(({ pid }) => identifyProcess(pid) === undefined));
  for (const each of used) {
    expect(await probePort(each)).toBe(each);
  }
}

test("a first start and the next one get ready with the same key and accounts, and Ctrl-C leaves nothing", async () => {
  const first = await startReady();
  const secrets = readFileSync(join(dataDir, "secrets.json"), "utf8");
  const { apiKey, workspaceId, accounts } = local();
  const before = processes();
  const used = ports();
  expect(before.map(({ bootId }) => bootId)).not.toContain("is not running");
  first.child.kill("SIGINT");
  expect(await first.ended()).toBe(0);
  await expectNothingLeft(before, used);
  expect(existsSync(join(dataDir, "local.json"))).toBe(false);

  const second = await startReady();
  expect(local()).toMatchObject({ apiKey, workspaceId, accounts });
  expect(readFileSync(join(dataDir, "secrets.json"), "utf8")).toBe(secrets);
  expect(second.output()).toContain(`http://127.0.0.1:${port}/api/v1`);
  second.child.kill("SIGINT");
  expect(await second.ended()).toBe(0);
});

test("a launcher killed the hard way leaves nothing either, and the next start works", async () => {
  const first = await startReady();
  const before = processes();
  const used = ports();
  process.kill(before[0]?.pid ?? 0, "SIGKILL");
  await first.ended();

  const second = await startReady();
  await eventually(() => before.every(({ pid }) => identifyProcess(pid) === undefined));
  const [gateway] = local().services.gateway;
  expect(used).toContain(Number(new URL(gateway?.url ?? "").port));
  second.child.kill("SIGTERM");
  expect(await second.ended()).toBe(0);
});

test("the demo publishes to every platform on a stack of its own, which is gone afterwards", async () => {
  const demo = run("demo", "--port", String(port));

  expect(await demo.ended(), demo.output()).toBe(0);

  expect(demo.output()).toMatch(/^16 of 16 published and visible/m);
  const kinds = {
    text: ["x", "facebook", "telegram", "bluesky"],
    image: ["instagram", "x", "facebook", "tiktok", "telegram", "bluesky"],
    video: ["x", "facebook", "tiktok", "youtube", "telegram", "bluesky"],
  };
  for (const [kind, platforms] of Object.entries(kinds))
    for (const platform of platforms) {
      // TikTok gives the address of a post later.
      const permalink = platform === "tiktok" ? "(–|https://)" : "https://";
      const row = new RegExp(`^  ${platform} .* ${kind} +published +yes +${permalink}`, "m");
      expect(demo.output()).toMatch(row);
    }
  expect(await probePort(port)).toBe(port);
});

test("the demo uses the running stack, and a second start on its folder is refused in one line", async () => {
  const stack = await startReady();
  const demo = run("demo");
  expect(await demo.ended(), demo.output()).toBe(0);
  expect(demo.output()).not.toContain("starting one");

  const second = run("start", "--port", String(port));
  expect(await second.ended()).toBe(1);
  expect(second.output()).toMatch(/^postrider: a stack already runs on .* \(process \d+\)\n$/m);

  stack.child.kill("SIGINT");
  expect(await stack.ended()).toBe(0);
});

test("a taken port is named in one line", async () => {
  const other = await startReady();
  const elsewhere = makeTestFolder("command");
  const folder = dataDir;
  dataDir = elsewhere;

  const refused = run("start", "--port", String(port));

  expect(await refused.ended()).toBe(1);
  expect(refused.output()).toContain(
    `postrider: port ${port} is taken: stop what listens there, or choose another one with --port N\n`,
  );
  dataDir = folder;
  rmSync(elsewhere, { recursive: true, force: true });
  other.child.kill("SIGINT");
  expect(await other.ended()).toBe(0);
});
