/** Prints what a run has measured, for whoever wants the figures: `POSTRIDER_E2E_FIGURES=1`. */
export function tell(name: string, figures: unknown): void {
  if (process.env.POSTRIDER_E2E_FIGURES !== "1") return;
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
}

/** Prints under which conditions a test ran, always: without them its result says less than it seems to. */
export function announce(text: string): void {
  process.stdout.write(`${text}\n`);
}
