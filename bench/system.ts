import { rmSync } from "node:fs";
import { join } from "node:path";
import { holdPart } from "@postrider/local/processes/hold";
import { layoutOf } from "@postrider/local/stack/layout";
import type { LocalStack } from "@postrider/local/stack/local-file";
import { connectSimulated, operate } from "@postrider/local/stack/operator";
import { loadSecrets } from "@postrider/local/stack/secrets";
import { startStack, type StackOptions } from "@postrider/local/stack/stack";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import type { IdentityName } from "@postrider/shared/identity/names";
import { toIdentity } from "@postrider/shared/identity/settings";
import {
  createIdentitySource,
  type IdentityHeaders,
} from "@postrider/shared/identity/token-source";

/**
 * A running Postrider stack without rate limits and quotas, so that no limit slows down a
 * benchmark.
 */
export interface BenchSystem extends AsyncDisposable {
  readonly local: LocalStack;
  /**
   * Returns the current description of the stack. Processes that were started again have new ids.
   */
  describe(): LocalStack;
  /**
   * Keeps a part of the stack, such as `postgres`, from being started again until the returned
   * function is called.
   */
  hold(part: string): () => void;
  /**
   * Returns the headers with which the process `caller` proves its identity to the service
   * `service`.
   */
  headersOf(caller: IdentityName, service: string): Promise<IdentityHeaders>;
  operate(...args: readonly string[]): Promise<unknown>;
  /** Sends a request to the REST API; see the function `call`. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** Connects new simulated accounts of the given platform and returns their ids. */
  connect(platform: string, count: number): Promise<readonly string[]>;
}

const NO_LIMIT = "100000000";

/**
 * Sends a request to the REST API with the API key of the demo workspace, and returns the body of
 * the answer.
 *
 * @throws Error unless the status of the answer is 2xx.
 */
export async function call<T>(
  { baseUrl, apiKey }: LocalStack,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...type },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok)
    throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 1000)}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export async function startBenchSystem(
  bus: "postgres" | "kafka",
  settings: Readonly<Record<string, string>> = {},
  options: Pick<StackOptions, "replicas" | "replica"> = {},
): Promise<BenchSystem> {
  const dataDir = makeTestFolder("bench");
  const stack = await startStack({
    ...options,
    dataDir,
    port: 0,
    kafka: bus === "kafka",
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
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
    describe: () => stack.describe(),
    hold: (part) => {
      holdPart(layoutOf(dataDir).hold, part, process.pid);
      return () => rmSync(join(layoutOf(dataDir).hold, part), { force: true });
    },
    headersOf: async (caller, service) => {
      const { identityKeys } = loadSecrets(layoutOf(dataDir).secretsFile);
      const identity = toIdentity(caller, identityKeys[caller].split(","));
      if (identity === undefined) throw new Error(`the stored key of ${caller} is invalid`);
      return await createIdentitySource(identity, service)();
    },
    operate: (...args) => operate(stack, ...args),
    call: (...request) => call(local, ...request),
    connect: (platform, count) => connectSimulated(stack, platform, count),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
