import type { Step } from "./steps.ts";

export interface StepCounts {
  passed: number;
  failed: number;
}

/** A few at a time, all of them even if one fails. A failed step prints its output. */
export async function runSteps(
  steps: readonly Step[],
  atOnce: number,
  print: (text: string) => void,
): Promise<StepCounts> {
  const counts = { passed: 0, failed: 0 };
  const waiting = [...steps];
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const startedAt = performance.now();
      const { ok, output, note = "" } = await step.run();
      counts[ok ? "passed" : "failed"] += 1;
      print(stepLine(step.name, ok, performance.now() - startedAt));
      const more = [note, ok ? "" : output].filter((text) => text !== "").join("\n");
      if (more !== "") print(indent(more));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return counts;
}

export function stepLine(name: string, ok: boolean, durationMs: number): string {
  return `${ok ? "ok  " : "FAIL"}  ${name}  ${(durationMs / 1000).toFixed(1)} s`;
}

function indent(output: string): string {
  return output
    .trimEnd()
    .split("\n")
    .map((line) => `      ${line}`)
    .join("\n");
}
