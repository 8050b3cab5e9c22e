/** Prints what a run has measured, if `POSTRIDER_E2E_FIGURES=1` asks for it. */
export function printFigures(name: string, figures: unknown): void {
  if (process.env.POSTRIDER_E2E_FIGURES !== "1") return;
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
}

/** Prints under which conditions a test runs, always: its result cannot be judged without them. */
export function announce(text: string): void {
  process.stdout.write(`${text}\n`);
}
