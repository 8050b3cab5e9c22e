import type { Logger } from "#src/telemetry/logger.ts";

/** After this time the process exits with 1. Delivery has its own, as it waits for platforms. */
export const GRACE_MS = 24_000;

/** Disposing stops it. */
export interface App extends AsyncDisposable {
  readonly logger: Logger;
}

/** npm, turbo and `node --watch` repeat a Ctrl-C. */
const REPEATED_SIGNAL_MS = 1000;

let fail = (): void => process.exit(1);

/**
 * Stops the application as SIGTERM does, so that calls in progress end and their outcomes are
 * stored, and then exits with 1. Exits at once if the process does not run with `runProcess`.
 */
export function stopAndFail(): void {
  fail();
}

/**
 * Stops the application on SIGTERM or SIGINT, and exits with 0. A second signal more than 1 s after
 * the first exits at once. A shutdown longer than `graceMs`, and a failed start, exit with 1.
 */
export async function runProcess(
  start: () => Promise<App>,
  options: { readonly graceMs: number },
): Promise<void> {
  let stopping: number | undefined;
  let app: App | undefined;
  let exitCode = 0;
  const stop = async (cause: { readonly signal?: string }): Promise<void> => {
    stopping = performance.now();
    if (app === undefined) process.exit(exitCode);
    app.logger.info(cause, "the process is stopping");
    setTimeout(() => process.exit(1), options.graceMs).unref();
    try {
      await app[Symbol.asyncDispose]();
      process.exit(exitCode);
    } catch (error) {
      app.logger.error({ err: error }, "the process could not stop cleanly; it exits with code 1");
      process.exit(1);
    }
  };
  const onSignal = (signal: string): void => {
    if (stopping === undefined) void stop({ signal });
    else if (performance.now() - stopping > REPEATED_SIGNAL_MS) process.exit(130);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  fail = () => {
    exitCode = 1;
    if (stopping === undefined) void stop({});
  };
  try {
    app = await start();
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  }
}

/** Disposed of in parallel, waiting for all even if one fails. */
export function together(resources: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      const ends = resources.map(async (resource) => await resource[Symbol.asyncDispose]());
      const failed = (await Promise.allSettled(ends)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    },
  };
}

/** Continues after a failure, and throws the first one at the end. */
export async function disposeInOrder(
  resources: readonly (AsyncDisposable | undefined)[],
): Promise<void> {
  const errors: unknown[] = [];
  for (const resource of resources)
    try {
      await resource?.[Symbol.asyncDispose]();
    } catch (error) {
      errors.push(error);
    }

  if (errors.length > 0) throw errors[0];
}
