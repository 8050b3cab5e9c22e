import { type ReactNode, useEffect, useState } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./empty-state.module.css";

interface EmptyStateProps {
  /** Why it is empty. */
  readonly title: ReactNode;
  readonly children?: ReactNode;
  /** The next step, as a button. */
  readonly action?: ReactNode;
}

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className={css.empty}>
      <b>{title}</b>
      {children !== undefined && <p className="sm muted">{children}</p>}
      {action}
    </div>
  );
}

const SKELETON_AFTER_MS = 150;
const WIDTHS = ["w60", "w40", "w50", "w70"] as const;

/** Bars at the height of the real rows, after 150 ms: a fast answer shows none. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  const words = useWords(kitWords);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={css.skeleton} role="status" aria-busy="true" aria-label={words.loading}>
      {isShown &&
        Array.from({ length: rows }, (_, row) => (
          <div key={row} className={css.bars}>
            <span className={css.short} />
            <span className={css[WIDTHS[row % WIDTHS.length] ?? "w60"]} />
            <span className={css.end} />
          </div>
        ))}
    </div>
  );
}
