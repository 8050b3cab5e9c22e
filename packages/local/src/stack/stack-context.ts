import type { PartRegistry } from "#src/processes/part-registry.ts";
import type { Layout } from "#src/stack/layout.ts";
import type { Secrets } from "#src/stack/secrets.ts";
import type { Environment } from "#src/stack/service-environment.ts";
import type { ServiceName } from "#src/stack/services.ts";
import type { ReplicaOptions } from "#src/stack/stack-plan.ts";
import type { StackPorts } from "#src/stack/stack-ports.ts";

/** Values that every step of starting a local stack uses. */
export interface StackContext {
  readonly layout: Layout;
  readonly settings: Environment;
  readonly replicaOptions: (service: ServiceName, index: number) => ReplicaOptions;
  readonly secrets: Secrets;
  readonly ports: StackPorts;
  readonly parts: PartRegistry;
  /** The processes that were started so far, which are stopped in reverse order. */
  readonly started: AsyncDisposableStack;
  /** Aborted when the caller cancels the start of the stack or one of its steps fails. */
  readonly signal: AbortSignal;
}

/**
 * Waits for all steps of starting the stack even when one fails, because every started process must be known before the
 * stack is stopped.
 *
 * @throws The error of the step that failed first.
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
