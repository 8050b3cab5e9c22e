import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { telegram, TestSimulator, textOf, tweet, until } from "#src/testing.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
});

afterEach(() => rmSync(dataDir, { recursive: true }));

async function spawnSimulator(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { SIMULATOR_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const { event, url } = JSON.parse(line) as { event: string; url: string };
  expect(event).toBe("listening");
  return { child, url };
}

async function json(url: string, body?: unknown): Promise<unknown> {
  const response = await fetch(
    url,
    body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        },
  );
  return response.json();
}

test(
  "a simulator killed with SIGKILL keeps the changes of every call that it answered, and SIGTERM ends the simulator with exit code 0",
  { timeout: 120_000 },
  async () => {
    const first = await spawnSimulator();
    const { accounts } = (await json(`${first.url}/_control/accounts`, {
      platform: "telegram",
    })) as {
      accounts: { credentials: { botToken: string; chatId: string } }[];
    };
    const { botToken, chatId } = accounts[0]?.credentials ?? { botToken: "", chatId: "" };
    const send = (url: string, text: string) =>
      json(`${url}/telegram/bot${botToken}/sendMessage`, { chat_id: chatId, text });
    for (const text of ["one", "two", "three"]) await send(first.url, text);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");

    const second = await spawnSimulator();
    expect(await send(second.url, "four")).toMatchObject({ ok: true, result: { message_id: 5 } });
    const visible = (await json(`${second.url}/_control/visible`)) as { text: string }[];
    expect(visible.map((post) => post.text)).toEqual(["one", "two", "three", "four"]);

    const rule = { platform: "telegram", operation: "publish", mode: "delay", delayMs: 60_000 };
    await json(`${second.url}/_control/faults`, rule);
    const held = send(second.url, "held").catch(() => "closed");
    await until(async () => {
      const faults = (await json(`${second.url}/_control/faults`)) as { hits: number }[];
      return faults[0]?.hits === 1;
    });
    second.child.kill("SIGTERM");
    expect(await once(second.child, "exit")).toEqual([0, null]);
    expect(await held).toBe("closed");
  },
);

test("accounts, tokens, posts, fault rules, clock, settings, rate limits and deletions survive a restart of the simulator", async () => {
  let simulator = await TestSimulator.start({ dataDir });
  const account = await simulator.account("x", "ada");
  const token = account.credentials["accessToken"] ?? "";
  await tweet(simulator, account, { text: "kept" });
  const gone = textOf((await tweet(simulator, account, { text: "gone" })).body["data"]?.["id"]);
  await simulator.call("DELETE", `/x/2/tweets/${gone}`, { token });
  await simulator.control("/clock", { advanceMs: 60_000 });
  await simulator.control("/settings", { latencyMs: 1 });
  const rule = { platform: "x", operation: "publish", mode: "status", status: 503, times: 2 };
  await simulator.control("/faults", rule);
  await tweet(simulator, account, { text: "refused" });
  const secrets = await simulator.control("/secrets");
  await simulator[Symbol.asyncDispose]();

  simulator = await TestSimulator.start({ dataDir });
  await using _stopped = simulator;
  expect(await simulator.visibleTexts("x")).toEqual(["kept"]);
  expect((await simulator.control("/clock"))["offsetMs"]).toBe(60_000);
  expect(await simulator.control("/settings")).toMatchObject({ quotas: true, latencyMs: 1 });
  expect(await simulator.control("/secrets")).toEqual(secrets);
  expect((await simulator.control("/faults"))[0]).toMatchObject({ remaining: 1, hits: 1 });
  expect((await tweet(simulator, account, { text: "refused" })).status).toBe(503);
  const duplicate = await tweet(simulator, account, { text: "kept" });
  expect(duplicate.status).toBe(403);
  expect(duplicate.headers.get("x-rate-limit-remaining")).toBe("97");
  expect((await simulator.account("x", "ada")).externalId).toBe(account.externalId);
});

test("a platform call that a fault rule of the kind `commit_late` still delays is carried out after a restart of the simulator", async () => {
  let simulator = await TestSimulator.start({ dataDir });
  const channel = await simulator.account("telegram");
  const rule = { platform: "telegram", operation: "publish", mode: "commit_late", delayMs: 200 };
  await simulator.control("/faults", rule);
  await expect(telegram(simulator, channel, "sendMessage", { text: "late" })).rejects.toThrow(
    "fetch failed",
  );
  await simulator[Symbol.asyncDispose]();

  simulator = await TestSimulator.start({ dataDir });
  await using _stopped = simulator;
  await until(async () => (await simulator.visibleTexts("telegram")).length === 1);
});

test("posts that POST /_control/reset deleted do not reappear after a restart of the simulator", async () => {
  let simulator = await TestSimulator.start({ dataDir });
  const account = await simulator.account("x");
  await tweet(simulator, account, { text: "forgotten" });
  await simulator.control("/reset", {});
  await tweet(simulator, account, { text: "after" });
  await simulator[Symbol.asyncDispose]();

  simulator = await TestSimulator.start({ dataDir });
  await using _stopped = simulator;
  expect(await simulator.visibleTexts("x")).toEqual(["after"]);
});

test("after SIGKILL, the simulator drops a truncated last line of its journal and writes new lines after the last complete line", async () => {
  let simulator = await TestSimulator.start({ dataDir });
  const account = await simulator.account("x");
  await tweet(simulator, account, { text: "whole" });
  await simulator[Symbol.asyncDispose]();
  appendFileSync(join(dataDir, "journal.ndjson"), '[["posts","x:1:2",{"platf');

  for (const text of ["next", "last"]) {
    simulator = await TestSimulator.start({ dataDir });
    await tweet(simulator, account, { text });
    await simulator[Symbol.asyncDispose]();
  }
  simulator = await TestSimulator.start({ dataDir });
  await using _stopped = simulator;
  expect(await simulator.visibleTexts("x")).toEqual(["whole", "next", "last"]);
});
