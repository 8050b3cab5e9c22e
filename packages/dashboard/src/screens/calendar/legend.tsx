import { Lock } from "lucide-react";
import { classNames } from "../../kit/class-names.ts";
import { StatusIcon } from "../../kit/status.tsx";
import { useWords } from "../../words/use-words.ts";
import type { DayCell } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import css from "./legend.module.css";

interface LegendProps {
  readonly cells: readonly DayCell[];
  readonly canDrag: boolean;
}

const COUNTED = ["published", "scheduled", "draft", "partial", "failed"] as const;

/** What the shapes mean, with how many there are. */
export function Legend({ cells, canDrag }: LegendProps) {
  const words = useWords(calendarWords);
  const posts = cells.flatMap((cell) => cell.posts);
  return (
    <div className={classNames(css.legend, "xs muted not-s")}>
      {COUNTED.map((status) => {
        const count = posts.filter(({ post }) => post.status === status).length;
        return (
          count > 0 && (
            <span className="row" key={status}>
              <StatusIcon status={status} label="" />
              {words.counts[status](count)}
            </span>
          )
        );
      })}
      {posts.length > 0 && (
        <span className="row">
          <Lock className="i i-s" aria-hidden="true" />
          {words.locked}
        </span>
      )}
      {canDrag && (
        <span className="push">
          {words.dragHint} <kbd>M</kbd> {words.moveKey} <kbd>U</kbd> {words.undoKey}
        </span>
      )}
    </div>
  );
}
