import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "@postrider/local/postgres/embedded-postgres";
import { findStablePorts, probePort } from "@postrider/local/processes/free-port";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import { eventually } from "@postrider/shared/testing/poll";
import { type Simulator, startSimulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { processEnvironment } from "#src/config.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const TOOL = join(import.meta.dirname, "../../cli/src/main.ts");
/** Long, because the first start also builds the services and the dashboard. */
const READY_MS = 150_000;
/** Those of the services, and the same with 1000 added. */
const PORTS = [0, 1, 2, 3, 4, 5, 1_000, 1_001, 1_002, 1_003, 1_004];

let folder: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let simulator: Simulator;
let env: Record<string, string>;

async function findPort(): Promise<number> {
  for (;;) {
    const [first = 0] = await findStablePorts(1);
    const probes = await Promise.all(PORTS.map((offset) => probePort(first + offset)));
    if (!probes.includes(undefined)) return first;
  }
}

beforeAll(async () => {
  folder = makeTestFolder("serve");
  dataDir = join(folder, "data");
  [postgres, simulator] = await Promise.all([
    startEmbeddedPostgres({ dataDir: join(folder, "postgres") }),
    startSimulator({ host: "127.0.0.1", port: 0 }),
  ]);
  env = {
    ...compileCacheEnv(),
    PATH: processEnvironment["PATH"] ?? "",
    // The simulated platforms use plain http.
    POSTRIDER_ENV: "development",
    POSTRIDER_SETTINGS_FILE: "",
    POSTRIDER_DATA_DIR: dataDir,
    DATABASE_URL: postgres.url,
    PORT: String(await findPort()),
    SIMULATOR_URL: simulator.url,
    BLUESKY_BASE_URL: `${simulator.url}/bluesky`,
  };
});

afterAll(async () => {
  await Promise.all([postgres[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
}

function run(settings: Readonly<Record<string, string>>, ...args: readonly string[]): Run {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: settings,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, output, ended };
}

async function startReady(): Promise<Run> {
  const running = run(env);
  await eventually(
    () => {
      if (running.child.exitCode !== null) throw new Error(running.output.stderr);
      expect(running.output.stdout).toContain("Postrider is ready");
    },
    { timeoutMs: READY_MS },
  );
  return running;
}

async function stop({ child, ended }: Run): Promise<number | null> {
  child.kill("SIGTERM");
  return await ended;
}

async function tool<T>(...words: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [TOOL, ...words, "--json"], {
    env: { PATH: env["PATH"], POSTRIDER_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(child, "close");
  return JSON.parse(text) as T;
}

interface Description {
  readonly services: Readonly<Record<string, readonly { pid: number; metricsUrl: string }[]>>;
}

function describeRunning(): Readonly<Record<string, number>> {
  const { services } = JSON.parse(readFileSync(join(dataDir, "local.json"), "utf8")) as Description;
  return Object.fromEntries(
    Object.entries(services).map(([name, [process]]) => [name, process?.pid ?? 0]),
  );
}

const api = async (path: string, key: string, body?: object): Promise<Response> =>
  await fetch(`http://127.0.0.1:${env["PORT"]}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test("serve without settings starts nothing, exits with 78, and names every missing setting and every misspelled setting of its file at once", async () => {
  const file = join(folder, "postrider.env");
  writeFileSync(
    file,
    "PUBLIC_URL=http://example.com\nX_CLIENT_IDD=1\nMAX_TARGETS_PER_PLATFORM=0\n",
  );
  const { ended, output } = run({ PATH: env["PATH"] ?? "", POSTRIDER_SETTINGS_FILE: file });
  expect(await ended).toBe(78);
  for (const fault of [
    "DATABASE_URL is required",
    "PUBLIC_URL must begin with https:// with POSTRIDER_ENV=production",
    "X_CLIENT_IDD is not a setting; docs/configuration.md lists all",
    "MAX_TARGETS_PER_PLATFORM is below 1: 0",
  ])
    expect(output.stderr.split(fault)).toHaveLength(2);
  expect(output.stdout).toBe("");
});

test("serve refuses a file of settings that it cannot read", async () => {
  const { ended, output } = run({ ...env, POSTRIDER_SETTINGS_FILE: join(folder, "none.env") });
  expect(await ended).toBe(1);
  expect(output.stderr).toContain("none.env cannot be read (ENOENT)");
});

test("serve refuses a database password that is wrong, instead of waiting for Postgres", async () => {
  const wrong = new URL(postgres.url);
  wrong.password = "wrong";
  const { ended, output } = run({ ...env, DATABASE_URL: wrong.toString() });
  expect(await ended).toBe(1);
  expect(output.stderr).toContain("password authentication failed");
});

test(
  "serve makes its secrets once, starts a crashed service again while the others go on, stops on SIGTERM with 0, and loses and repeats no post",
  { timeout: 400_000 },
  async () => {
    const secretsFile = join(dataDir, "secrets.json");
    const first = await startReady();
    expect(statSync(secretsFile).mode & 0o777).toBe(0o600);
    const secrets = readFileSync(secretsFile, "utf8");
    const { id, key } = await tool<{ id: string; key: string }>(
      "workspace",
      "create",
      "--name",
      "Team",
      "--verified",
      "--with-key",
    );
    const { accounts } = await tool<{ accounts: { id: string }[] }>(
      "account",
      "connect",
      "bluesky",
      "--workspace",
      id,
      "--simulated",
      "--count",
      "5",
    );

    // A second one on the same folder would share nothing but the damage.
    const second = run({ ...env, PORT: String(await findPort()) });
    expect(await second.ended).toBe(1);
    expect(second.output.stderr).toContain("already runs on");

    const before = describeRunning();
    process.kill(before["delivery"] ?? 0, "SIGKILL");
    await eventually(
      () => {
        const { delivery, ...others } = describeRunning();
        expect(others).toEqual(
          Object.fromEntries(Object.entries(before).filter(([name]) => name !== "delivery")),
        );
        expect(delivery).not.toBe(before["delivery"]);
        // Reported after the process is written to the file.
        expect(first.output.stdout).toContain("delivery started again");
      },
      { timeoutMs: READY_MS },
    );

    // Accepted right before the end: some are being published, some wait.
    const accepted = await Promise.all(
      accounts.flatMap((account) =>
        ["one", "two", "three"].map(async (text) => {
          const body = { content: `${text} of ${account.id}`, accountIds: [account.id] };
          const response = await api("/posts", key, body);
          expect(response.status).toBe(202);
          return ((await response.json()) as { id: string }).id;
        }),
      ),
    );
    expect(await stop(first)).toBe(0);
    const lines = first.output.stdout.trim().split("\n");
    const names = lines.map((line) => (JSON.parse(line) as { service: string }).service);
    expect(new Set(names)).toEqual(
      new Set(["serve", "gateway", "accounts", "posts", "media", "delivery", "inspector"]),
    );
    for (const pid of Object.values(before)) expect(() => process.kill(pid, 0)).toThrow("ESRCH");

    const again = await startReady();
    expect(readFileSync(secretsFile, "utf8")).toBe(secrets);
    for (const postId of accepted)
      await eventually(
        async () => {
          const post = (await (await api(`/posts/${postId}`, key)).json()) as { status: string };
          expect(post.status).toBe("published");
        },
        { timeoutMs: READY_MS },
      );
    const visible = (await (
      await fetch(`${simulator.url}/_control/visible?platform=bluesky&limit=1000`)
    ).json()) as { text: string }[];
    expect(visible.map(({ text }) => text).toSorted()).toEqual(
      accounts
        .flatMap((account) => ["one", "two", "three"].map((text) => `${text} of ${account.id}`))
        .toSorted(),
    );
    expect(await stop(again)).toBe(0);

    renameSync(secretsFile, `${secretsFile}.lost`);
    const lost = run(env);
    expect(await lost.ended).toBe(1);
    expect(lost.output.stderr).toContain("restore it from your backup");
    renameSync(`${secretsFile}.lost`, secretsFile);
  },
);
