/**
 * Aborts on the first request to stop: a signal, or the end of the bootstrap that started this process (its channel closes).
 * The channel alone does not keep the process alive.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error("interrupted"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, stop);
  }
  if (process.channel !== undefined) {
    process.once("disconnect", stop);
    process.channel.unref();
  }
  return controller.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    }
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
