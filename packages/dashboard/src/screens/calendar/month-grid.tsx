import { startTransition, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useSettings } from "../../settings/settings.ts";
import { weekdayOf } from "../../time/format-time.ts";
import type { DayCell as Cell } from "./calendar-cells.ts";
import type { Look } from "./chip.tsx";
import { DayCell } from "./day-cell.tsx";
import css from "./month-grid.module.css";
import type { Grid } from "./use-grid.ts";
import type { Place } from "./use-place.ts";

interface MonthGridProps {
  readonly label: string;
  readonly cells: readonly Cell[];
  readonly place: Place;
  readonly look: Look;
  readonly grid: Grid;
  readonly isNarrow: boolean;
  /** The next free slot of each rule. */
  readonly free: readonly number[];
}

const WEEK = 7;
/** What fills a screen of 900 pixels. */
const FIRST_WEEKS = 4;

let wasDrawn = false;

/**
 * The first month of a page takes 100 ms to draw if it has 1,000 posts. The weeks that a reader
 * sees are drawn first, and the others in the next frame. A month that is drawn before it is opened
 * has time for all of them. Later months are drawn at once, so that one who comes back finds the
 * place.
 */
function useShownWeeks(): number | undefined {
  const [path] = useLocation();
  const isAhead = !path.startsWith("/calendar");
  const [count, setCount] = useState(() => (wasDrawn || isAhead ? undefined : FIRST_WEEKS));
  useEffect(() => {
    wasDrawn = true;
    const frame = requestAnimationFrame(() => startTransition(() => setCount(undefined)));
    return () => cancelAnimationFrame(frame);
  }, []);
  return count;
}

/** Six weeks. One listener on the whole handles clicks, keys and drags. */
export function MonthGrid(props: MonthGridProps) {
  const { label, cells, place, look, grid, isNarrow, free } = props;
  const { language } = useSettings();
  const shownWeeks = useShownWeeks();
  const weeks = Array.from({ length: cells.length / WEEK }, (_, week) =>
    cells.slice(week * WEEK, (week + 1) * WEEK),
  );
  return (
    <div role="grid" aria-label={label} className={css.month} {...grid.handlers}>
      <div role="row" className={css.line}>
        {weeks[0]?.map(({ day }) => (
          <span role="columnheader" key={day.dayOfWeek}>
            {weekdayOf(day, language)}
          </span>
        ))}
      </div>
      {weeks.slice(0, shownWeeks).map((week) => (
        <div role="row" className={css.line} key={week[0]?.day.toString()}>
          {week.map((cell) => (
            <DayCell
              key={cell.day.toString()}
              cell={cell}
              look={look}
              isOutside={cell.day.month !== place.day.month}
              isFirst={cell === cells[0]}
              todayText={place.today.toString()}
              isChosen={cell.day.equals(place.day)}
              isDropTarget={grid.dropDay === cell.day.toString()}
              isNarrow={isNarrow}
              freeMs={free.find((ms) => ms >= cell.startMs && ms < cell.endMs)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}
