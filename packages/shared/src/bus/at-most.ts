/** Waits until `work` ends, but at most `timeoutMs`. If `work` ends later, its result is ignored. */
export async function atMost(work: PromiseLike<void>, timeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
