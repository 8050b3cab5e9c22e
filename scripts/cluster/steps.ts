/** The shell commands under a heading of a Markdown page, up to the next heading of its level. */
export function readSteps(page: string, heading: string): readonly string[] {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const lines = page.split("\n");
  const from = lines.indexOf(heading);
  if (from === -1) throw new Error(`there is no heading ${heading}`);
  const length = lines.slice(from + 1).findIndex((line) => {
    const marks = /^(#{2,}) /.exec(line)?.[1]?.length ?? Infinity;
    return marks <= level;
  });
  const to = length === -1 ? lines.length : from + 1 + length;
  return readCommands(lines.slice(from, to).join("\n"));
}

/** All shell commands of a Markdown page. Blocks without a language are only shown. */
export function readCommands(page: string): readonly string[] {
  return [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = ""]) => commands);
}

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
