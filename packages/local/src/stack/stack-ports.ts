import { findStablePorts, probePort } from "#src/processes/free-port.ts";
import { perService, type ServiceName, serviceNames } from "#src/stack/services.ts";

export interface ReplicaPorts {
  readonly port: number;
  readonly metricsPort: number;
}

/** They stay the same while the stack runs, even over restarts of a process. */
export interface StackPorts {
  readonly postgres: number;
  readonly kafka: number;
  readonly simulator: number;
  /** Of the only replica, or of the forwarder in front of several. */
  readonly entry: Readonly<Record<ServiceName, number>>;
  readonly replicas: Readonly<Record<ServiceName, readonly ReplicaPorts[]>>;
}

/** @throws Error in one line when the gateway's port is taken; 0 means any free port. */
export async function chooseStackPorts(gateway: number, replicas: number): Promise<StackPorts> {
  if (gateway !== 0 && (await probePort(gateway)) === undefined)
    throw new Error(
      `port ${gateway} is taken: stop what listens there, or choose another one with --port N`,
    );

  const ports = await findStablePorts(3 + serviceNames.length * (1 + 2 * replicas));
  const take = (): number => ports.pop() ?? 0;
  const entry = perService((service) =>
    service === "gateway" && gateway !== 0 ? gateway : take(),
  );
  return {
    postgres: take(),
    kafka: take(),
    simulator: take(),
    entry,
    replicas: perService((service) =>
      Array.from({ length: replicas }, () => ({
        port: replicas === 1 ? entry[service] : take(),
        metricsPort: take(),
      })),
    ),
  };
}
