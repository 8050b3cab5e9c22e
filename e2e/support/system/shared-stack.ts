import { createServer } from "node:http";
import { findStablePort } from "@postrider/local/processes/free-port";
import { startStack, type Stack } from "@postrider/local/stack/stack";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { listen } from "@postrider/shared/testing/listen";
import type { TestProject } from "vitest/node";
import { createSimulatorControl } from "../requests/simulator.ts";
import { copyPrepared, prepareCluster, type PreparedCluster } from "./prepared-cluster.ts";
import { stackEnvironment } from "./stack-environment.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be merged
  interface ProvidedContext {
    /**
     * URL of a server that vitest's globalSetup starts. A request to it returns a `SharedStack`:
     * the addresses of the system that all test files share. The first request starts that system.
     * A request to `PREPARED_CLUSTER` below it returns a folder for `copyPrepared`.
     */
    sharedStackUrl: string;
  }
}

/** The addresses of the running system that test files share. */
export interface SharedStack {
  readonly dataDir: string;
  /**
   * Port on 127.0.0.1 from which the media service may import media; one test file listens on it.
   */
  readonly outsidePort: number;
  /** Ports on 127.0.0.1 to which Postrider may send webhooks, each for one test. */
  readonly webhookPorts: Readonly<
    Record<
      "receiver" | "example" | "dashboard" | "screens" | "dialogs" | "readAfterWrite" | "client",
      number
    >
  >;
  /**
   * Ports on 127.0.0.1 for the imports and webhooks of examples in the documentation, one port per
   * test file.
   */
  readonly examplePorts: { readonly docsPage: number; readonly guides: number };
}

export const PREPARED_CLUSTER = "/prepared-cluster";

/** The web origin whose pages may upload media to the shared system. */
export const UPLOAD_ORIGIN = "https://app.example.com";

interface Started extends SharedStack {
  readonly stack: Stack;
  readonly reports: readonly string[];
}

async function start(prepared: PreparedCluster): Promise<Started> {
  const dataDir = makeTestFolder("stack");
  await copyPrepared(prepared.dataDir, dataDir);
  const outsidePort = await findStablePort();
  const examplePorts = { docsPage: await findStablePort(), guides: await findStablePort() };
  const webhookPorts = {
    receiver: await findStablePort(),
    example: await findStablePort(),
    dashboard: await findStablePort(),
    screens: await findStablePort(),
    dialogs: await findStablePort(),
    readAfterWrite: await findStablePort(),
    client: await findStablePort(),
  };
  const ports = { outsidePort, examplePorts, webhookPorts };
  const outsidePorts = [
    outsidePort,
    ...Object.values(examplePorts),
    ...Object.values(webhookPorts),
  ];
  const reports: string[] = [];
  const stack = await startStack({
    dataDir,
    port: 0,
    // Each service runs in two processes, so that the requests of a test reach different processes.
    replicas: 2,
    report: (line) => reports.push(line),
    env: stackEnvironment({
      OUTBOUND_ALLOW: outsidePorts.map((port) => `127.0.0.1:${port}`).join(","),
      UPLOAD_ORIGINS: UPLOAD_ORIGIN,
      WEBHOOK_RETRY_SECONDS: "0.2,0.2",
    }),
  });
  await createSimulatorControl(stack.describe().simulatorUrl).liftQuotas();
  return { stack, dataDir, ...ports, reports };
}

async function stop({ stack, reports }: Started): Promise<void> {
  const ended = reports.filter((line) => line.includes(" ended: "));
  await stack[Symbol.asyncDispose]();
  if (ended.length > 0) throw new Error(`in the shared stack ${ended.join(", ")}`);
}

/**
 * vitest's globalSetup: starts one system, on the Postgres bus, when the first test file asks for
 * it, and stops it after the last file. A test file that stops processes, needs Kafka or changes
 * settings starts its own system instead.
 *
 * @returns The teardown, which fails the test run when a process of the shared system ended during
 *   the run.
 */
export async function setup({
  provide,
}: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  let prepared: Promise<PreparedCluster> | undefined;
  let started: Promise<Started> | undefined;
  const answer = async (path: string | undefined): Promise<string> => {
    prepared ??= prepareCluster();
    if (path === PREPARED_CLUSTER) return (await prepared).dataDir;
    started ??= prepared.then(start);
    const { stack: _stack, reports: _reports, ...shared } = await started;
    return JSON.stringify(shared);
  };
  const server = createServer((request, response) => {
    // Else a test file could ask on a connection that this server is just closing.
    response.setHeader("connection", "close");
    answer(request.url).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const listening = await listen(server);
  provide("sharedStackUrl", listening.url);
  return async () => {
    await listening[Symbol.asyncDispose]();
    if (started !== undefined) await stop(await started);
    (await prepared)?.[Symbol.dispose]();
  };
}
