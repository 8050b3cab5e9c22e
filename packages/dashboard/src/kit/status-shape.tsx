import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";
import css from "./status-shape.module.css";

const ring = <circle cx="8" cy="8" r="6" />;
const faintRing = <circle cx="8" cy="8" r="6" opacity={0.28} />;
const octagon = (
  <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" className={css.solid} />
);

/** The twelve shapes of the states: told apart without colour, and each by its outline. */
const SHAPES = {
  draft: <circle cx="8" cy="8" r="6" strokeDasharray="2.2 2.5" />,
  scheduled: both(ring, <path d="M8 4.7V8l2.2 1.5" />),
  publishing: both(faintRing, <path d="M8 2a6 6 0 0 1 6 6" strokeWidth={2} />),
  published: both(
    <circle cx="8" cy="8" r="6.75" className={css.solid} />,
    <path d="m5 8.2 2.1 2.1L11 6.2" className={css.cut} />,
  ),
  partial: both(ring, <path d="M8 2a6 6 0 0 0 0 12z" className={css.solid} />),
  failed: both(octagon, <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" className={css.cut} />),
  cancelled: both(ring, <path d="m3.9 12.1 8.2-8.2" />),
  pending: both(ring, <path d="M5.2 8h.01M8 8h.01M10.8 8h.01" strokeWidth={1.8} />),
  unknown: both(
    <path d="M8 1.4 14.6 8 8 14.6 1.4 8z" />,
    <path d="M8 5.2v3.1M8 10.7h.01" strokeWidth={1.7} />,
  ),
  deleting: both(faintRing, <path d="M8 2a6 6 0 0 1 6 6M5.4 8h5.2" />),
  deleted: both(ring, <path d="M5.4 8h5.2" />),
  delete_failed: both(octagon, <path d="M5.4 8h5.2" className={css.cut} />),
} as const satisfies Readonly<Record<string, ReactNode>>;

const HIDDEN = { "aria-hidden": true } as const;

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
  /** What screen readers say; without it the word stands elsewhere. */
  readonly label?: string;
  readonly className?: string | undefined;
}

/** The shape alone. */
export function StatusShape({ shape, label, className }: StatusShapeProps) {
  const name = label === undefined ? HIDDEN : { role: "img", "aria-label": label };
  return (
    <svg
      viewBox="0 0 16 16"
      {...name}
      className={classNames(css.shape, className, shape === "publishing" && "spin")}
    >
      {SHAPES[shape]}
    </svg>
  );
}
