/** One script of bash, which says when each step has ended and stops what runs beside it. */
export function toScript(steps: readonly string[]): string {
  const timed = steps.map((step, index) => `${step}say "step ${index + 1} of ${steps.length}"\n`);
  return [
    "set -euo pipefail",
    'say() { echo "[$SECONDS s] $1"; }',
    // Forwarding prints a line for each connection, and ends with the script only if it is the job
    // itself.
    'kubectl() { if [[ "$*" = *port-forward* ]]; then exec kubectl "$@" >/dev/null; else command kubectl "$@"; fi; }',
    "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
    ...timed,
  ].join("\n");
}
