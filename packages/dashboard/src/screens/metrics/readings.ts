import { lookOf, type Series } from "../../charts/series.ts";
import type { TargetHistory } from "./metrics-api.ts";

export const MEASURES = ["seen", "likes", "comments", "shares"] as const;
export type Measure = (typeof MEASURES)[number];

export const WINDOWS = ["h48", "d7", "d90"] as const;
export type Window = (typeof WINDOWS)[number];

export const WINDOW_HOURS: Readonly<Record<Window, number>> = { h48: 48, d7: 168, d90: 2160 };

/** Counters of one publication, as a reading or the newest numbers have them. */
type Counters = Readonly<
  Record<"views" | "impressions" | "reach" | "likes" | "comments" | "shares", number | null>
>;

/** How often it was seen: platforms give views, impressions or reach; null = none of them. */
export function valueOf(counters: Counters, measure: Measure): number | null {
  if (measure !== "seen") return counters[measure];
  return counters.views ?? counters.impressions ?? counters.reach;
}

/**
 * A line for each account with readings, in hours since the post was sent. A reading without the
 * counter makes no point: nothing is known about it.
 */
export function seriesOf(
  targets: readonly TargetHistory[],
  { sentMs, measure, hours }: { sentMs: number; measure: Measure; hours: number },
  nameOf: (target: TargetHistory) => string,
): readonly Series[] {
  return targets
    .map((target) => ({ target, points: pointsOf(target, { sentMs, measure, hours }) }))
    .filter(({ points }) => points.length > 0)
    .map(({ target, points }, index) => ({
      id: target.targetId,
      label: `${nameOf(target)} ${(points.at(-1)?.y ?? 0).toLocaleString("en")}`,
      look: lookOf(index),
      points,
    }));
}

function pointsOf(
  { points }: TargetHistory,
  { sentMs, measure, hours }: { sentMs: number; measure: Measure; hours: number },
) {
  return points.flatMap((reading) => {
    const y = valueOf(reading, measure);
    const x = (Date.parse(reading.at) - sentMs) / 3_600_000;
    return y === null || x < 0 || x > hours ? [] : [{ x, y }];
  });
}
