import type { Logger } from "#src/telemetry/logger.ts";

/** How long after SIGTERM a process is gone, whatever it waits for: all but delivery, which waits for calls in the air. */
export const GRACE_MS = 24_000;

/** What a composition root returns: running, and disposable in the right order. */
export interface App extends AsyncDisposable {
  readonly logger: Logger;
}

/** Ctrl-C reaches a process more than once through npm, turbo and `node --watch`: echoes are not a second wish. */
const ECHO_MS = 1000;

/**
 * Runs a process: starts it, stops it once on SIGTERM or SIGINT, exits 0. A second signal more than a second after the
 * first exits at once; a shutdown that takes longer than `graceMs` exits 1. A failed start exits 1.
 */
export async function runProcess(
  start: () => Promise<App>,
  options: { readonly graceMs: number },
): Promise<void> {
  let stopping: number | undefined;
  let app: App | undefined;
  const stop = async (signal: string): Promise<void> => {
    const now = performance.now();
    if (stopping !== undefined) {
      if (now - stopping > ECHO_MS) process.exit(130);
      return;
    }
    stopping = now;
    if (app === undefined) process.exit(0);
    app.logger.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), options.graceMs).unref();
    try {
      await app[Symbol.asyncDispose]();
      process.exit(0);
    } catch (error) {
      app.logger.error({ err: error }, "stopping failed");
      process.exit(1);
    }
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
  try {
    app = await start();
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  }
}

/** Several as one: disposed of at the same time, and it waits for all even when one fails. */
export function together(resources: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      const ends = resources.map(async (resource) => await resource[Symbol.asyncDispose]());
      const failed = (await Promise.allSettled(ends)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    },
  };
}

/** Disposes in the order given, goes on after a failure, and throws the first one at the end. */
export async function disposeInOrder(
  resources: readonly (AsyncDisposable | undefined)[],
): Promise<void> {
  const errors: unknown[] = [];
  for (const resource of resources) {
    try {
      await resource?.[Symbol.asyncDispose]();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
