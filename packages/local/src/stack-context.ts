import type { Layout } from "#src/layout.ts";
import type { PartRegistry } from "#src/part-registry.ts";
import type { Secrets } from "#src/secrets.ts";
import type { Environment } from "#src/service-environment.ts";
import type { ServiceName } from "#src/services.ts";
import type { ReplicaOptions } from "#src/stack-plan.ts";
import type { StackPorts } from "#src/stack-ports.ts";

/** What every step of a start works with. */
export interface StackContext {
  readonly layout: Layout;
  readonly settings: Environment;
  readonly replicaOptions: (service: ServiceName, index: number) => ReplicaOptions;
  readonly secrets: Secrets;
  readonly ports: StackPorts;
  readonly parts: PartRegistry;
  /** What has been started so far, in the order of starting; it is stopped the other way round. */
  readonly started: AsyncDisposableStack;
  /** Aborted when the start was called off or one of its steps failed. */
  readonly signal: AbortSignal;
}

/**
 * Waits for all steps even when one fails: what a step has started must be known before everything is stopped.
 *
 * @throws The first error in time.
 */
export async function allSteps<T extends readonly unknown[]>(
  abort: (error: unknown) => void,
  steps: { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const errors: unknown[] = [];
  for (const step of steps) {
    step.catch((error: unknown) => {
      errors.push(error);
      abort(error);
    });
  }
  const results = await Promise.allSettled(steps);
  if (errors.length > 0) {
    throw errors[0];
  }
  return results.map((result) =>
    result.status === "fulfilled" ? result.value : undefined,
  ) as unknown as T;
}
