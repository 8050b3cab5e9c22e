import type { ReactNode, TableHTMLAttributes } from "react";
import { classNames } from "./class-names.ts";
import css from "./table.module.css";

interface TableProps extends TableHTMLAttributes<HTMLTableElement> {
  /** Name for screen readers. */
  readonly label: string;
  readonly children: ReactNode;
}

/**
 * A dense table in a card. The classes `r` (numbers, at the right), `end` (actions) and `none`
 * (nothing there) are for its cells, `aria-selected` is for its rows.
 */
export function Table({ label, className, children, ...rest }: TableProps) {
  return (
    <table className={classNames(css.table, className)} aria-label={label} {...rest}>
      {children}
    </table>
  );
}
