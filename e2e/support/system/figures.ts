/** Prints the measured rates and durations of a test if `POSTRIDER_E2E_FIGURES=1` is set. */
export function printFigures(name: string, figures: unknown): void {
  if (process.env.POSTRIDER_E2E_FIGURES !== "1") return;
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
}

/**
 * Always prints the conditions under which a test ran, such as the request rate, because its result
 * cannot be judged without them.
 */
export function announce(text: string): void {
  process.stdout.write(`${text}\n`);
}
