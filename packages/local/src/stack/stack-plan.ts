import { join } from "node:path";
import { javaEnvironment, startKafka } from "#src/kafka/kafka.ts";
import { startEmbeddedPostgres } from "#src/postgres/embedded-postgres.ts";
import { bundle } from "#src/processes/bundle.ts";
import { startNodeProcess } from "#src/processes/node-process.ts";
import type { PartPlan } from "#src/processes/supervised-part.ts";
import { compileCache, type Layout, root } from "#src/stack/layout.ts";
import type { Secrets } from "#src/stack/secrets.ts";
import {
  type Environment,
  passedOn,
  serviceEnvironment,
  type StackPlan,
} from "#src/stack/service-environment.ts";
import type { ServiceName } from "#src/stack/services.ts";
import type { ReplicaPorts } from "#src/stack/stack-ports.ts";

/** Milliseconds from SIGTERM to SIGKILL: longer than each service takes to stop by itself. */
const graceMs: Readonly<Record<ServiceName | "simulator", number>> = {
  gateway: 32_000,
  accounts: 32_000,
  posts: 32_000,
  media: 32_000,
  delivery: 92_000,
  simulator: 5_000,
};

export function logFileOf(layout: Layout, name: string): string {
  return join(layout.logs, `${name}.log`);
}

export function postgresPlan(layout: Layout, secrets: Secrets, port: number): PartPlan {
  return {
    name: "postgres",
    holdName: "postgres",
    start: () =>
      startEmbeddedPostgres({
        dataDir: layout.postgres,
        port,
        password: secrets.ownerPassword,
        logFile: logFileOf(layout, "postgres"),
      }),
  };
}

export function kafkaPlan(layout: Layout, settings: Environment, port: number): PartPlan {
  return {
    name: "kafka",
    holdName: "kafka",
    start: () =>
      startKafka({
        dataDir: layout.kafka,
        port,
        logFile: logFileOf(layout, "kafka"),
        env: javaEnvironment(settings),
      }),
  };
}

export function simulatorPlan(layout: Layout, settings: Environment, port: number): PartPlan {
  const folder = join(root, "packages/simulator");
  const program = { folder, script: () => bundle(folder) };
  return nodePlan(layout, "simulator", "simulator", program, {
    ...passedOn(settings),
    HOST: "127.0.0.1",
    PORT: String(port),
    SIMULATOR_DATA_DIR: layout.simulator,
  });
}

export interface ReplicaOptions {
  readonly env?: Environment;
  /**
   * Root folder of another git checkout, from which this replica is started; its packages must be
   * installed.
   */
  readonly checkout?: string;
}

export function servicePlan(
  layout: Layout,
  service: ServiceName,
  options: ReplicaOptions & { readonly index: number; readonly ports: ReplicaPorts },
  plan: StackPlan,
): PartPlan {
  const { index, ports, checkout = root } = options;
  const name = index === 0 ? service : `${service}-${index + 1}`;
  const settings = { ...plan.settings, ...options.env };
  const env = { ...serviceEnvironment(service, ports, { ...plan, settings }), ...options.env };
  const folder = join(checkout, "services", service);
  // To bundle another checkout takes longer than its bundle saves in the one start of a test.
  const script = () => (checkout === root ? bundle(folder) : join(folder, "src/main.ts"));
  return nodePlan(layout, name, service, { folder, script }, env);
}

function nodePlan(
  layout: Layout,
  name: string,
  holdName: ServiceName | "simulator",
  { folder, script }: { readonly folder: string; readonly script: () => string | Promise<string> },
  env: Environment,
): PartPlan {
  return {
    name,
    holdName,
    start: async () =>
      await startNodeProcess({
        script: await script(),
        cwd: folder,
        env: { NODE_COMPILE_CACHE: compileCache, ...env },
        logFile: logFileOf(layout, name),
        graceMs: graceMs[holdName],
      }),
  };
}
