/**
 * Aborted by a signal, or when the bootstrap program that started this process ends and closes
 * their channel, which alone does not keep this process alive.
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
