import css from "./line-chart.module.css";

const WIDTH = 72;
const HEIGHT = 20;
const EDGE = 2;

interface SparklineProps {
  readonly values: readonly number[];
  /** How many there are at the right edge; a line of fewer ends before it. */
  readonly count: number;
}

/**
 * The shape of a line in the height of a row, from nothing at its left edge; it has no scale, and
 * the numbers stand beside it.
 */
export function Sparkline({ values, count }: SparklineProps) {
  if (values.length === 0) return null;
  const all = [0, ...values];
  const most = Math.max(1, ...values);
  const points = all.map((value, index) => {
    const x = EDGE + (index / count) * (WIDTH - 2 * EDGE);
    const y = HEIGHT - EDGE - (value / most) * (HEIGHT - 2 * EDGE);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg width={WIDTH} height={HEIGHT} className={css.spark} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
