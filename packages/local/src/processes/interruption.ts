/**
 * Returns an abort signal for the first request to stop this process: a signal of the operating system, or the end of
 * the bootstrap program that started this process, which closes the channel between them. The channel alone does not
 * keep the process alive.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error("interrupted"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);

  if (process.channel !== undefined) {
    process.once("disconnect", stop);
    process.channel.unref();
  }
  return controller.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();

    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
