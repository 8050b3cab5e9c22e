/**
 * Preloaded (`node --import`) before a service in watch mode: replaces the running stack's process
 * of it, with the same settings.
 */
import { basename } from "node:path";
import { defaultDataDir, environment } from "#src/config.ts";
import { probePort } from "#src/processes/free-port.ts";
import { holdPart } from "#src/processes/hold.ts";
import { findLauncher, listProcesses } from "#src/processes/leftovers.ts";
import { poll } from "#src/processes/poll.ts";
import { stillRuns } from "#src/processes/process-identity.ts";
import { reasonOf } from "#src/stack/database.ts";
import { type Layout, layoutOf } from "#src/stack/layout.ts";
import { type LocalService, type LocalStack, readLocalStack } from "#src/stack/local-file.ts";
import { loadSecrets } from "#src/stack/secrets.ts";
import { type Environment, serviceEnvironment } from "#src/stack/service-environment.ts";
import { perService, type ServiceName, serviceNames } from "#src/stack/services.ts";

const freeMs = 30_000;

/**
 * Keeps the stack's processes of a service down while the parent runs: `node --watch`, which stays
 * when it restarts the service. Returns the environment with the ports of the first replica;
 * `settings` override the stack's defaults. Throws without a running stack.
 */
async function takePlace(
  service: ServiceName,
  settings: Environment,
): Promise<Record<string, string>> {
  const layout = layoutOf(defaultDataDir);
  const stack = readLocalStack(layout.localFile);
  const place = stack?.services[service][0];
  if (stack === undefined || place === undefined || findLauncher(layout) === undefined)
    throw new Error("no stack is running: start one with `npm start` in another terminal first");

  holdPart(layout.hold, service, process.ppid);
  endOwnProcesses(layout, stack.services[service]);
  const ports = { port: portOf(place.url), metricsPort: portOf(place.metricsUrl) };
  for (const port of [ports.port, ports.metricsPort]) await untilFree(port);

  return environmentOf(service, ports, { layout, stack, settings });
}

function endOwnProcesses(layout: Layout, replicas: readonly LocalService[]): void {
  for (const identity of listProcesses(layout))
    if (replicas.some(({ pid }) => pid === identity.pid) && stillRuns(identity))
      process.kill(identity.pid, "SIGTERM");
}

async function untilFree(port: number): Promise<void> {
  const free = await poll(() => probePort(port), { everyMs: 50, timeoutMs: freeMs });
  if (free === undefined)
    throw new Error(`port ${port} did not become free within ${freeMs / 1000} s`);
}

function environmentOf(
  service: ServiceName,
  ports: { port: number; metricsPort: number },
  { layout, stack, settings }: { layout: Layout; stack: LocalStack; settings: Environment },
): Record<string, string> {
  const urls = perService((name) => stack.services[name][0]?.url ?? "");
  return serviceEnvironment(service, ports, {
    settings,
    secrets: loadSecrets(layout.secretsFile),
    time: stack.time,
    databaseUrl: stack.databaseUrl,
    kafkaBrokers: kafkaBrokersOf(stack, settings),
    urls: { ...urls, gateway: stack.baseUrl },
    simulatorUrl: stack.simulatorUrl,
    mediaDir: layout.media,
    mediaTempDir: layout.mediaTemp,
  });
}

function kafkaBrokersOf(stack: LocalStack, settings: Environment): string[] {
  if (stack.bus === "postgres") return [];

  return stack.kafka === null
    ? (settings.KAFKA_BROKERS ?? "").split(",")
    : [`127.0.0.1:${stack.kafka.port}`];
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

const service = serviceNames.find((name) => name === basename(process.cwd()));
if (service === undefined) throw new Error(`${process.cwd()} is not a service`);

try {
  Object.assign(environment, await takePlace(service, environment));
} catch (error) {
  process.stderr.write(`postrider: ${reasonOf(error)}\n`);
  process.exit(1);
}
