import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.5,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
/** A stroke in the colour of the ground, cut into a filled shape. */
const cut = { ...line, stroke: "var(--cut, var(--surface))", strokeWidth: 1.7 } as const;

const ring = <circle cx="8" cy="8" r="6" {...line} />;
const faintRing = <circle cx="8" cy="8" r="6" {...line} opacity={0.28} />;
const octagon = (
  <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="currentColor" />
);

/** The twelve shapes of the states: told apart without colour, and each by its outline. */
const SHAPES = {
  draft: <circle cx="8" cy="8" r="6" {...line} strokeDasharray="2.2 2.5" />,
  scheduled: both(ring, <path d="M8 4.7V8l2.2 1.5" {...line} />),
  publishing: both(faintRing, <path d="M8 2a6 6 0 0 1 6 6" {...line} strokeWidth={2} />),
  published: both(
    <circle cx="8" cy="8" r="6.75" fill="currentColor" />,
    <path d="m5 8.2 2.1 2.1L11 6.2" {...cut} />,
  ),
  partial: both(ring, <path d="M8 2a6 6 0 0 0 0 12z" fill="currentColor" />),
  failed: both(octagon, <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" {...cut} />),
  cancelled: both(ring, <path d="m3.9 12.1 8.2-8.2" {...line} />),
  pending: both(ring, <path d="M5.2 8h.01M8 8h.01M10.8 8h.01" {...line} strokeWidth={1.8} />),
  unknown: both(
    <path d="M8 1.4 14.6 8 8 14.6 1.4 8z" {...line} />,
    <path d="M8 5.2v3.1M8 10.7h.01" {...line} strokeWidth={1.7} />,
  ),
  deleting: both(faintRing, <path d="M8 2a6 6 0 0 1 6 6M5.4 8h5.2" {...line} />),
  deleted: both(ring, <path d="M5.4 8h5.2" {...line} />),
  delete_failed: both(octagon, <path d="M5.4 8h5.2" {...cut} />),
} as const satisfies Readonly<Record<string, ReactNode>>;

export type Shape = keyof typeof SHAPES;

function both(one: ReactNode, other: ReactNode): ReactNode {
  return (
    <>
      {one}
      {other}
    </>
  );
}

interface StatusShapeProps {
  readonly shape: Shape;
  readonly className?: string | undefined;
}

/** The shape alone, for places where the word stands elsewhere. */
export function StatusShape({ shape, className }: StatusShapeProps) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={classNames(className, shape === "publishing" && "spin")}
    >
      {SHAPES[shape]}
    </svg>
  );
}
