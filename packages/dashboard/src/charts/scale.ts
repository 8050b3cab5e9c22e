/** Round steps of an axis: 1, 2, 2.5 or 5 times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10] as const;

/** Four or five lines from 0 to above the highest value, at round numbers. */
export function ticksTo(highest: number): readonly number[] {
  const rough = Math.max(1, highest / 4);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, (STEPS.find((one) => one * power >= rough) ?? 10) * power);
  const whole = Number.isInteger(step) ? step : Math.ceil(step);
  const count = Math.max(1, Math.ceil(highest / whole));
  return Array.from({ length: count + 1 }, (_, index) => index * whole);
}

/** Labels at the ends of lines keep a distance: from above, each moves down as far as needed. */
export function spreadLabels(tops: readonly number[], distance: number): readonly number[] {
  const order = tops.map((top, index) => ({ top, index })).toSorted((a, b) => a.top - b.top);
  const spread: number[] = [...tops];
  let free = Number.NEGATIVE_INFINITY;
  for (const { top, index } of order) {
    const at = Math.max(top, free);
    spread[index] = at;
    free = at + distance;
  }
  return spread;
}
