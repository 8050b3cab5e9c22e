import { startForwarder } from "#src/processes/forwarder.ts";
import type { SupervisedPart } from "#src/processes/supervised-part.ts";
import { watchReadiness } from "#src/stack/readiness-watch.ts";
import { waitUntilReady } from "#src/stack/readiness.ts";
import type { StackPlan } from "#src/stack/service-environment.ts";
import { perService, type ServiceName, serviceNames } from "#src/stack/services.ts";
import { allSteps, type StackContext } from "#src/stack/stack-context.ts";
import { logFileOf, servicePlan } from "#src/stack/stack-plan.ts";
import type { ReplicaPorts } from "#src/stack/stack-ports.ts";

/** A replica of a service, and the ports on which it listens. */
export interface Replica extends ReplicaPorts {
  readonly service: ServiceName;
  readonly part: SupervisedPart;
}

/**
 * Starts every replica of every service, all at once, and waits until each is ready.
 *
 * @param abort Cancels the waits for the other replicas when one fails.
 */
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
  // The replicas are stopped at the same time, because each may have to wait for a publishing call in progress.
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

/** Starts a TCP forwarder for each service, so that clients and other services reach its replicas at one address. */
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

/** Returns the address at which clients and other services reach each service. */
export function entryUrls(
  context: Pick<StackContext, "ports">,
): Readonly<Record<ServiceName, string>> {
  return perService((service) => `http://127.0.0.1:${context.ports.entry[service]}`);
}
