import { Plus } from "lucide-react";
import { memo } from "react";
import { classNames } from "../../kit/class-names.ts";
import { clockOf, dateOf, longDateOf } from "../../time/format-time.ts";
import { useWords } from "../../words/use-words.ts";
import { type DayCell as Cell, foldDay } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import { Chip, type Look } from "./chip.tsx";
import css from "./month-grid.module.css";

interface DayCellProps {
  readonly cell: Cell;
  readonly look: Look;
  /** A day of the month before or after. */
  readonly isOutside: boolean;
  readonly isFirst: boolean;
  readonly todayText: string;
  readonly isChosen: boolean;
  readonly isDropTarget: boolean;
  readonly isNarrow: boolean;
  /** The next free slot of a rule, if it is on this day. */
  readonly freeMs: number | undefined;
}

const MAX_DOTS = 4;

/** One day of a month. Only what has changed is drawn again: a drag changes two of 42. */
export const DayCell = memo(function DayCell(props: DayCellProps) {
  const { cell, look, isNarrow, todayText, isChosen } = props;
  const { day, posts } = cell;
  const text = day.toString();
  return (
    <div
      role="gridcell"
      data-day={text}
      tabIndex={isChosen ? 0 : -1}
      aria-current={text === todayText ? "date" : undefined}
      aria-selected={isNarrow ? isChosen : undefined}
      className={classOf(props)}
    >
      <Head {...props} />
      {isNarrow ? <Dots posts={posts} /> : <Chips cell={cell} look={look} />}
    </div>
  );
});

function Chips({ cell: { day, posts }, look }: Pick<DayCellProps, "cell" | "look">) {
  const words = useWords(calendarWords);
  const { shown, hidden } = foldDay(posts);
  return (
    <>
      {shown.map((placed) => (
        <Chip key={placed.post.id} placed={placed} look={look} />
      ))}
      {hidden > 0 && (
        <button type="button" tabIndex={-1} data-more={day.toString()} className={css.more}>
          {words.more(hidden)}
        </button>
      )}
    </>
  );
}

function classOf({ cell, todayText, isNarrow, ...is }: DayCellProps): string {
  const text = cell.day.toString();
  return classNames(
    css.cell,
    text < todayText && css.past,
    is.isOutside && css.outside,
    is.isDropTarget && css.drop,
    isNarrow && is.isChosen && css.chosen,
  );
}

function Head(props: DayCellProps) {
  const { cell, look, isFirst, todayText, freeMs, isNarrow } = props;
  const words = useWords(calendarWords);
  const { day, posts } = cell;
  const name = longDateOf(day, look.language);
  const isNamed = isFirst || (day.day === 1 && props.isOutside);
  const free =
    freeMs === undefined
      ? undefined
      : clockOf(
          Temporal.Instant.fromEpochMilliseconds(freeMs).toZonedDateTimeISO(look.zone),
          look.language,
        );
  return (
    <div className={css.head}>
      <span
        className={classNames("num", day.toString() === todayText && "today-mark")}
        aria-hidden="true"
      >
        {isNamed ? dateOf(day, look.language, isNarrow) : day.day}
      </span>
      <span className="sr">{words.dayLabel(name, posts.length)}</span>
      {free !== undefined && <span className={css.freeSlot}>{words.freeAt(free)}</span>}
      {!isNarrow && day.toString() >= todayText && (
        <button
          type="button"
          tabIndex={-1}
          className={css.add}
          aria-label={words.newPostOn(name)}
          title={words.newPostOn(name)}
        >
          <Plus className="i i-s" />
        </button>
      )}
    </div>
  );
}

/** A month on a phone: one dot for each post, told apart by colour and form, at most four. */
function Dots({ posts }: Pick<Cell, "posts">) {
  return (
    <span className={css.dots} aria-hidden="true">
      {posts.slice(0, MAX_DOTS).map(({ post }) => (
        <i key={post.id} className={css[post.status]} />
      ))}
    </span>
  );
}
