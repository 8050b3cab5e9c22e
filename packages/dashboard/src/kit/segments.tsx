import type { ReactNode } from "react";
import css from "./segments.module.css";

export interface Segment<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
}

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly segments: readonly Segment<T>[];
  readonly onChange: (value: T) => void;
}

/** One of a few values, all of them in sight. */
export function Segments<T extends string>({ label, value, segments, onChange }: SegmentsProps<T>) {
  return (
    <div className={css.segments} role="group" aria-label={label}>
      {segments.map((segment) => (
        <button
          key={segment.value}
          type="button"
          aria-pressed={segment.value === value}
          onClick={() => onChange(segment.value)}
        >
          {segment.label}
        </button>
      ))}
    </div>
  );
}

/** Parts of one thing; the panel below belongs to the tab that is chosen. */
export function Tabs<T extends string>({ label, value, segments, onChange }: SegmentsProps<T>) {
  const move = (step: number) => {
    const index = segments.findIndex((segment) => segment.value === value);
    const next = segments[(index + step + segments.length) % segments.length];
    if (next !== undefined) onChange(next.value);
  };
  return (
    <div className={css.tabs} role="tablist" aria-label={label}>
      {segments.map((segment) => (
        <button
          key={segment.value}
          type="button"
          role="tab"
          aria-selected={segment.value === value}
          tabIndex={segment.value === value ? 0 : -1}
          ref={(button) => {
            // Arrows move the choice, and the focus follows it.
            const isInside = button?.parentElement?.contains(document.activeElement) ?? false;
            if (segment.value === value && isInside) button?.focus();
          }}
          onClick={() => onChange(segment.value)}
          onKeyDown={({ key }) => {
            if (key === "ArrowRight") move(1);
            if (key === "ArrowLeft") move(-1);
          }}
        >
          {segment.label}
        </button>
      ))}
    </div>
  );
}
