/** Prints the measurements of a run if `POSTRIDER_E2E_FIGURES=1` is set. */
export function printFigures(name: string, figures: unknown): void {
  if (process.env.POSTRIDER_E2E_FIGURES !== "1") return;
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
}

/** Always prints the conditions of a test, because its result cannot be judged without them. */
export function announce(text: string): void {
  process.stdout.write(`${text}\n`);
}
