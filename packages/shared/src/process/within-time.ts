/**
 * Waits for a promise for a limited time. It is a safety net behind abort signals: a promise that ignores its signal, or
 * whose signal is lost, must not keep a lease alive for ever.
 *
 * @throws Error `message` after `limitMs`, and whatever the promise rejects with before.
 */
export async function withinTime<T>(
  promise: Promise<T>,
  limitMs: number,
  message: string,
): Promise<T> {
  const overdue = Promise.withResolvers<never>();
  const timer = setTimeout(() => overdue.reject(new Error(message)), limitMs);
  try {
    return await Promise.race([promise, overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}
