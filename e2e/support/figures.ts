/** Prints what a run has measured, for whoever wants the figures: `POSTRIDER_E2E_FIGURES=1`. */
export function tell(name: string, figures: unknown): void {
  if (process.env.POSTRIDER_E2E_FIGURES !== "1") return;
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
}
