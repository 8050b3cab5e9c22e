export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

/** Told apart by dash, label and colour, never by colour alone. */
export interface Series {
  readonly id: string;
  /** At the end of the line. */
  readonly label: string;
  readonly look: SeriesLook;
  /** Readings, oldest first. Nothing is drawn beyond the last one. */
  readonly points: readonly ChartPoint[];
}

export interface SeriesLook {
  readonly color: `var(--c${number})`;
  /** Lengths of strokes and gaps; empty for a solid line. */
  readonly dash: string;
}

const SOLID: SeriesLook = { color: "var(--c1)", dash: "" };

const LOOKS: readonly SeriesLook[] = [
  SOLID,
  { color: "var(--c3)", dash: "3 3" },
  { color: "var(--c2)", dash: "7 4" },
  { color: "var(--c4)", dash: "9 3 2 3" },
  { color: "var(--c5)", dash: "1 4" },
];

/** Looks of the series of a chart, one after the other. */
export function lookOf(index: number): SeriesLook {
  return LOOKS[index % LOOKS.length] ?? SOLID;
}
