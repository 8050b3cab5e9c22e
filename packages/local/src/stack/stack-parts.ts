import { prepareTopics } from "#src/kafka/kafka.ts";
import { startForwarder } from "#src/processes/forwarder.ts";
import type { PartRegistry, RunningPart, SupervisedPart } from "#src/processes/supervised-part.ts";
import { prepareDatabase } from "#src/stack/database.ts";
import type { Layout } from "#src/stack/layout.ts";
import { waitUntilReady, watchReadiness } from "#src/stack/readiness.ts";
import type { Secrets } from "#src/stack/secrets.ts";
import type { Environment, StackPlan } from "#src/stack/service-environment.ts";
import { type ServiceName, perService, serviceNames } from "#src/stack/services.ts";
import {
  type ReplicaOptions,
  kafkaPlan,
  logFileOf,
  postgresPlan,
  simulatorPlan,
  servicePlan,
} from "#src/stack/stack-plan.ts";
import type { StackPorts, ReplicaPorts } from "#src/stack/stack-ports.ts";

export interface StackContext {
  readonly layout: Layout;
  readonly settings: Environment;
  readonly replicaOptions: (service: ServiceName, index: number) => ReplicaOptions;
  readonly secrets: Secrets;
  readonly ports: StackPorts;
  readonly parts: PartRegistry;
  /** Stopped in reverse order. */
  readonly started: AsyncDisposableStack;
  /** Aborted when the caller cancels the start of the stack or one of its steps fails. */
  readonly signal: AbortSignal;
}

/**
 * Even when one fails, because every started process must be known before the stack is stopped.
 * Throws the error of the step that failed first.
 */
export async function allSteps<T extends readonly unknown[]>(
  abort: (error: unknown) => void,
  steps: { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const errors: unknown[] = [];
  for (const step of steps)
    step.catch((error: unknown) => {
      errors.push(error);
      abort(error);
    });

  const results = await Promise.allSettled(steps);
  if (errors.length > 0) throw errors[0];

  return results.map((result) =>
    result.status === "fulfilled" ? result.value : undefined,
  ) as unknown as T;
}

export interface Replica extends ReplicaPorts {
  readonly service: ServiceName;
  readonly part: SupervisedPart;
}

/** All at once. `abort` cancels the waits for the other replicas when one fails. */
export async function startServices(
  context: StackContext,
  plan: StackPlan,
  abort: (error: unknown) => void,
): Promise<Replica[]> {
  await startForwarders(context);
  const replicas = serviceNames.flatMap((service) =>
    context.ports.replicas[service].map((ports, index) => ({
      ...ports,
      service,
      part: context.parts.add(
        servicePlan(
          context.layout,
          service,
          { ...context.replicaOptions(service, index), index, ports },
          plan,
        ),
      ),
    })),
  );
  // The replicas are stopped at the same time, because each may have to wait for a publishing call
  // in progress.
  context.started.defer(async () => {
    await Promise.all(replicas.map(({ part }) => part[Symbol.asyncDispose]()));
  });
  await allSteps(
    abort,
    replicas.map(async ({ part, metricsPort }) => {
      await part.start();
      await waitUntilReady(part, {
        url: `http://127.0.0.1:${metricsPort}/readyz`,
        logFile: logFileOf(context.layout, part.plan.name),
        signal: context.signal,
      });
    }),
  );
  return replicas;
}

/** So that clients and other services reach all replicas of a service at one address. */
async function startForwarders({ ports, started }: StackContext): Promise<void> {
  for (const service of serviceNames) {
    const replicas = ports.replicas[service];
    const backends = replicas.map(({ port }) => port);
    if (!backends.includes(ports.entry[service])) {
      const watch = started.use(watchReadiness(replicas));
      started.use(await startForwarder(ports.entry[service], backends, watch.isReady));
    }
  }
}

export function entryUrls(
  context: Pick<StackContext, "ports">,
): Readonly<Record<ServiceName, string>> {
  return perService((service) => `http://127.0.0.1:${context.ports.entry[service]}`);
}

/** `part` is absent if `DATABASE_URL` names an external database. */
export interface StackDatabase {
  readonly url: string;
  readonly part?: SupervisedPart;
}

/** Starts Postgres or uses that of `DATABASE_URL`, and creates roles and schemas. */
export async function startDatabase(context: StackContext): Promise<StackDatabase> {
  const { layout, settings, secrets, ports } = context;
  const external = settings.DATABASE_URL;
  if (external !== undefined && external !== "") {
    await prepareDatabase(external, secrets);
    return { url: external };
  }
  const part = await startPart(context, postgresPlan(layout, secrets, ports.postgres));
  const url = `postgres://postgres:${secrets.ownerPassword}@127.0.0.1:${ports.postgres}/postgres`;
  await prepareDatabase(url, secrets);
  return { url, part };
}

/** None when the event bus is in Postgres. `part` is absent for external brokers. */
export interface StackBroker {
  readonly brokers: readonly string[];
  readonly part?: SupervisedPart;
}

/** Or uses those of `KAFKA_BROKERS`; creates the topics. */
export async function startBroker(context: StackContext, wanted: boolean): Promise<StackBroker> {
  const { layout, settings, ports } = context;
  const external = (settings.KAFKA_BROKERS ?? "").split(",").filter((each) => each !== "");
  if (external.length > 0) {
    await prepareTopics(external);
    return { brokers: external };
  }
  if (!wanted) return { brokers: [] };

  const part = await startPart(context, kafkaPlan(layout, settings, ports.kafka));
  const brokers = [`127.0.0.1:${ports.kafka}`];
  await prepareTopics(brokers);
  return { brokers, part };
}

export async function startSimulator(context: StackContext): Promise<SupervisedPart> {
  const { layout, settings, ports } = context;
  const part = await startPart(context, simulatorPlan(layout, settings, ports.simulator));
  await waitUntilReady(part, {
    url: `http://127.0.0.1:${ports.simulator}/_control/faults`,
    logFile: logFileOf(layout, "simulator"),
    signal: context.signal,
  });
  return part;
}

async function startPart(
  context: StackContext,
  plan: { name: string; holdName: string; start: () => Promise<RunningPart> },
): Promise<SupervisedPart> {
  const part = context.started.use(context.parts.add(plan));
  await part.start();
  return part;
}
