import type { LocalStack } from "@postrider/local/local-file";
import { connectSimulated, operate } from "@postrider/local/operator";
import { startStack } from "@postrider/local/stack";
import { makeTestFolder } from "@postrider/local/test-folder";

/** A stack of our own, its budgets lifted so that the benchmark measures the system and not the limiter. */
export interface BenchSystem extends AsyncDisposable {
  readonly local: LocalStack;
  operate(...args: readonly string[]): Promise<unknown>;
  /** Ids of fresh accounts. */
  connect(platform: string, count: number): Promise<readonly string[]>;
}

const NO_LIMIT = "100000000";

export async function startBenchSystem(bus: "postgres" | "kafka"): Promise<BenchSystem> {
  const stack = await startStack({
    dataDir: makeTestFolder("bench"),
    port: 0,
    kafka: bus === "kafka",
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  const local = stack.describe();
  const limits = ["--requests-per-minute", NO_LIMIT, "--monthly-quota", NO_LIMIT];
  await operate(stack, "workspace", "set-limits", local.workspaceId, ...limits);
  await fetch(`${local.simulatorUrl}/_control/settings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ quotas: false, latencyMs: 0 }),
  });
  return {
    local,
    operate: (...args) => operate(stack, ...args),
    connect: (platform, count) => connectSimulated(stack, platform, count),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
