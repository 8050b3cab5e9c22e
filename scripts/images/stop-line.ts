import type { ContainerEnd } from "./containers.ts";

/** Less than any deployment waits before it kills. */
const MAX_STOP_MS = 25_000;

/**
 * How long each container took to stop, in words.
 *
 * @throws Error that names those which failed or took too long.
 */
export function toStopLine(ends: readonly ContainerEnd[]): string {
  const bad = ends.filter(({ code, durationMs }) => code !== 0 || durationMs > MAX_STOP_MS);
  if (bad.length > 0) throw new Error(bad.map((end) => JSON.stringify(end)).join("\n"));
  return ends
    .map(({ name, durationMs }) => `${name} ${(durationMs / 1000).toFixed(2)} s`)
    .join(", ");
}
