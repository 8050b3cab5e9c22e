import type { ServiceName } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { isAlive } from "./process-state.ts";
import type { System } from "./system.ts";

/** How long one process of a service took to stop, in milliseconds. */
export interface Stop {
  readonly service: ServiceName;
  readonly exitMs: number;
}

/**
 * Maximum time in milliseconds from SIGTERM to the end of the process, for every service except the
 * delivery service.
 */
export const EXIT_LIMIT_MS = 25_000;
const READY_MS = 60_000;
/**
 * How long the test waits for a process to end, in milliseconds. It is longer than any limit, so
 * that the time of a slow stop is measured too.
 */
const EXIT_MS = 120_000;

/** Whether the process whose metrics have this URL answers that it is ready. */
async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Whether every process of the given services answers that it is ready. */
export async function areReady(system: System, services: readonly ServiceName[]): Promise<boolean> {
  const replicas = services.flatMap((service) => system.local().services[service]);
  const answers = await Promise.all(replicas.map(({ metricsUrl }) => isReady(metricsUrl)));
  return answers.every(Boolean);
}

/**
 * Stops one process of a service as Kubernetes does, and waits until the process that replaces it
 * is ready.
 */
export async function restart(system: System, service: ServiceName, index: number): Promise<Stop> {
  const { pid = 0, metricsUrl = "" } = system.local().services[service][index] ?? {};
  const since = performance.now();
  process.kill(pid, "SIGTERM");
  await eventually(() => !isAlive(pid), { timeoutMs: EXIT_MS });
  const exitMs = performance.now() - since;
  await eventually(async () => system.pids(service)[index] !== pid && (await isReady(metricsUrl)), {
    timeoutMs: READY_MS,
  });
  return { service, exitMs: Math.round(exitMs) };
}

/**
 * Replaces the processes of the services one after the other: each is stopped only when the
 * replacement of the previous one is ready.
 */
export async function roll(
  system: System,
  services: readonly ServiceName[],
): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  for (const service of services)
    for (const index of system.pids(service).keys())
      stops.push(await restart(system, service, index));
  return stops;
}
