import type { DemoWorkspace } from "#src/demo/demo-workspace.ts";
import type { SupervisedPart } from "#src/processes/supervised-part.ts";
import type { Layout } from "#src/stack/layout.ts";
import type { LocalStack } from "#src/stack/local-file.ts";
import type { StackPlan } from "#src/stack/service-environment.ts";
import { perService } from "#src/stack/services.ts";
import type { StackBroker, StackDatabase } from "#src/stack/stack-infrastructure.ts";
import type { StackPorts } from "#src/stack/stack-ports.ts";
import type { Replica } from "#src/stack/stack-services.ts";

/** The facts about a running local stack that are written to `local.json`. */
export interface StackFacts extends StackPlan {
  readonly layout: Layout;
  readonly ports: StackPorts;
  readonly database: StackDatabase;
  readonly broker: StackBroker;
  readonly simulator: SupervisedPart;
  readonly replicas: readonly Replica[];
  readonly demo: DemoWorkspace;
}

/** Describes a running local stack with its current process ids. */
export function describeStack(facts: StackFacts): LocalStack {
  const { layout, ports, database, broker, demo } = facts;
  const baseUrl = facts.urls.gateway;
  return {
    baseUrl,
    docsUrl: `${baseUrl}/docs`,
    apiKey: demo.apiKey,
    workspaceId: demo.workspaceId,
    accounts: demo.accounts,
    simulatorUrl: facts.simulatorUrl,
    databaseUrl: facts.databaseUrl,
    bus: facts.kafkaBrokers.length === 0 ? "postgres" : "kafka",
    time: facts.time,
    services: perService((service) =>
      facts.replicas.filter((replica) => replica.service === service).map(describeReplica),
    ),
    postgres:
      database.part === undefined
        ? null
        : { pid: database.part.pid, dataDir: layout.postgres, port: ports.postgres },
    kafka: broker.part === undefined ? null : { pid: broker.part.pid, port: ports.kafka },
    simulator: { pid: facts.simulator.pid },
    logs: layout.logs,
  };
}

function describeReplica({ part, port, metricsPort }: Replica): {
  pid: number;
  url: string;
  metricsUrl: string;
} {
  return {
    pid: part.pid,
    url: `http://127.0.0.1:${port}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
  };
}
