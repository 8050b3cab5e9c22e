import { useLayoutEffect, useRef, useState } from "react";
import css from "./line-chart.module.css";
import { spreadLabels, ticksTo } from "./scale.ts";
import type { Series, SeriesLook } from "./series.ts";

interface LineChartProps {
  /** What the chart shows, in a sentence; the numbers are in a table beside it. */
  readonly label: string;
  readonly series: readonly Series[];
  readonly xMax: number;
  readonly xTicks: readonly { readonly x: number; readonly label: string }[];
  /** The present, if it lies inside. */
  readonly now: { readonly x: number; readonly label: string } | undefined;
}

const HEIGHT = 320;
const EDGE = { top: 12, right: 24, bottom: 28, left: 52 } as const;
const LABEL_PX = 16;
const TICK_PX = 44;
/** Room for the label of a line. */
const LABEL_WIDTH = 84;

/**
 * Lines through readings: straight, because nothing is known between two of them, and from nothing
 * at the left edge. Drawn to the measured width, so that texts keep their size.
 */
export function LineChart({ label, series, xMax, xTicks, now }: LineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const yTicks = ticksTo(Math.max(0, ...series.flatMap(({ points }) => points.map(({ y }) => y))));
  const yMax = yTicks.at(-1) ?? 1;
  const ends = series.map(({ points }) => points.at(-1)?.x ?? 0);
  const whole = width - EDGE.left - EDGE.right;
  // The labels of the lines begin here at the latest, and end at the edge of the drawing.
  const labelled = ((whole + EDGE.right - LABEL_WIDTH) * xMax) / Math.max(now?.x ?? 0, ...ends);
  const inner = Math.max(80, Math.min(whole, labelled));
  const toX = (x: number) => EDGE.left + (x / xMax) * inner;
  const toY = (y: number) => HEIGHT - EDGE.bottom - (y / yMax) * (HEIGHT - EDGE.top - EDGE.bottom);
  return (
    <div ref={box} className={css.box}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img" aria-label={label} className={css.chart}>
          {yTicks.map((y) => (
            <g key={y}>
              <line x1={EDGE.left} x2={EDGE.left + inner} y1={toY(y)} y2={toY(y)} />
              <text x={EDGE.left - 8} y={toY(y) + 4} textAnchor="end">
                {y.toLocaleString("en")}
              </text>
            </g>
          ))}
          {apart(xTicks, (TICK_PX / inner) * xMax).map(({ x, label: text }) => (
            <text key={x} x={toX(x)} y={HEIGHT - 8} textAnchor="middle">
              {text}
            </text>
          ))}
          {now && <Now x={toX(now.x)} label={now.label} />}
          <Lines series={series} toX={toX} toY={toY} nowX={now && toX(now.x)} />
        </svg>
      )}
    </div>
  );
}

function Now({ x, label }: { readonly x: number; readonly label: string }) {
  return (
    <g>
      <line className={css.now} x1={x} x2={x} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} />
      <text x={x + 5} y={HEIGHT - EDGE.bottom - 5}>
        {label}
      </text>
    </g>
  );
}

interface LinesProps {
  readonly series: readonly Series[];
  readonly toX: (x: number) => number;
  readonly toY: (y: number) => number;
  readonly nowX: number | undefined;
}

/** Labels of the lower edge that would touch the one before are left out. */
function apart<T extends { readonly x: number }>(ticks: readonly T[], distance: number) {
  let last = Number.NEGATIVE_INFINITY;
  return ticks.filter(({ x }) => {
    if (x - last < distance) return false;
    last = x;
    return true;
  });
}

/** The label of a line lies behind its last reading, and behind the line of the present. */
function labelX(end: number, nowX: number | undefined): number {
  const isCrossed = nowX !== undefined && nowX >= end && nowX - end < LABEL_WIDTH;
  return isCrossed ? nowX + 7 : end + 10;
}

function Lines({ series, toX, toY, nowX }: LinesProps) {
  const drawn = series.filter(({ points }) => points.length > 0);
  const tops = spreadLabels(
    drawn.map(({ points }) => toY(points.at(-1)?.y ?? 0)),
    LABEL_PX,
  );
  return drawn.map(({ id, label, look, points }, index) => {
    const path = [{ x: 0, y: 0 }, ...points].map(({ x, y }) => `${toX(x)},${toY(y)}`).join(" ");
    return (
      <g key={id}>
        <polyline points={path} stroke={look.color} strokeDasharray={look.dash} />
        {points.map(({ x, y }) => (
          <circle key={x} cx={toX(x)} cy={toY(y)} r={3} stroke={look.color} />
        ))}
        <text
          className={css.name}
          x={labelX(toX(points.at(-1)?.x ?? 0), nowX)}
          y={(tops[index] ?? 0) + 4}
          style={{ fill: look.color }}
        >
          {label}
        </text>
      </g>
    );
  });
}

/** The look of a line, for the table beside the chart. */
export function SeriesKey({ look }: { readonly look: SeriesLook | undefined }) {
  return (
    <svg width="20" height="8" aria-hidden="true" className={css.key}>
      {look && (
        <line x1="1" x2="19" y1="4" y2="4" stroke={look.color} strokeDasharray={look.dash} />
      )}
    </svg>
  );
}

function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
