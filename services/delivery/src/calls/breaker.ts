/**
 * Returns how long a breaker that has just opened, or whose probe has failed, waits before it lets the
 * next probe through.
 *
 * @param waitsMs The waits before the first probe, the second, and so on; the last one repeats.
 */
export function probeWaitMs(failedProbes: number, waitsMs: readonly number[]): number {
  return waitsMs[Math.min(failedProbes, waitsMs.length - 1)] ?? 0;
}
