import { Plus } from "lucide-react";
import type { CSSProperties } from "react";
import { classNames } from "../../kit/class-names.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, longDateOf, weekdayOf } from "../../time/format-time.ts";
import { hoursOfDay } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import type { DayCell as Cell, PlacedPost } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import { Chip, type Look } from "./chip.tsx";
import type { Grid } from "./use-grid.ts";
import type { Place } from "./use-place.ts";
import css from "./week-grid.module.css";
import {
  type ClockChange,
  isSecond,
  labelsOf,
  lineOf,
  linesOf,
  stackDown,
  type WeekLines,
} from "./week-lines.ts";
import { offsetOf, useHourPx } from "./week-scale.ts";

const CHIP_PX = 24;

interface WeekGridProps {
  readonly label: string;
  readonly cells: readonly Cell[];
  /** For each of the days. */
  readonly changes: readonly (ClockChange | undefined)[];
  readonly place: Place;
  readonly look: Look;
  readonly grid: Grid;
  readonly free: readonly number[];
}

/** The wall clock of seven days. Posts are points: a chip lies at its minute. */
export function WeekGrid({ label, cells, changes, place, look, grid, free }: WeekGridProps) {
  const { zone, language } = useSettings();
  const hourPx = useHourPx();
  const lines = linesOf(changes);
  const scale = { lines, zone, hourPx };
  const columns = cells.map((cell, index) => layOut(cell, free, scale, changes[index]));
  const bottoms = columns.flatMap((items) => items.map(({ top }) => top + CHIP_PX));
  const height = Math.max((lines.length * hourPx) / 60, ...bottoms);
  const style = { height, "--hour": `${hourPx}px` } as CSSProperties;
  return (
    <div role="grid" aria-label={label} className={css.week} {...grid.handlers}>
      <div role="row" className={css.weekHead}>
        <span role="columnheader" className="xs muted">
          {placeOf(zone, language)}
        </span>
        {cells.map(({ day }) => (
          <DayHead key={day.toString()} day={day} isToday={day.equals(place.today)} />
        ))}
      </div>
      <div role="row" className={css.columns} style={style}>
        <div className={css.hours} aria-hidden="true">
          {labelsOf(lines).map(({ clock, line }) => (
            <span key={line} style={{ top: offsetOf(line) }}>
              {clock}
            </span>
          ))}
        </div>
        {cells.map((cell, index) => (
          <DayColumn
            key={cell.day.toString()}
            cell={cell}
            items={columns[index] ?? []}
            lines={lines}
            change={changes[index]}
            look={look}
            isChosen={cell.day.equals(place.day)}
            isToday={cell.day.equals(place.today)}
            isDropTarget={grid.dropDay === cell.day.toString()}
          />
        ))}
      </div>
    </div>
  );
}

export function DayHours({ day }: { readonly day: Temporal.PlainDate }) {
  const { zone } = useSettings();
  const words = useWords(calendarWords);
  const hours = hoursOfDay(day, zone);
  return hours === 24 ? null : <span className="tag">{words.hours(hours)}</span>;
}

interface DayHeadProps {
  readonly day: Temporal.PlainDate;
  readonly isToday: boolean;
}

function DayHead({ day, isToday }: DayHeadProps) {
  const { zone, language } = useSettings();
  const isChanged = hoursOfDay(day, zone) !== 24;
  return (
    <span role="columnheader" className={isChanged ? css.changed : undefined}>
      <span className="muted">{weekdayOf(day, language)}</span>{" "}
      <b className={classNames("num", isToday && "today-mark")}>{day.day}</b>
      <DayHours day={day} />
    </span>
  );
}

/** A post or a free slot, and how far it lies from above. */
interface Item {
  readonly ms: number;
  readonly placed: PlacedPost | undefined;
  readonly top: number;
}

interface Scale {
  readonly lines: WeekLines;
  readonly zone: string;
  readonly hourPx: number;
}

function layOut(
  { posts, startMs, endMs }: Cell,
  free: readonly number[],
  { lines, zone, hourPx }: Scale,
  change: ClockChange | undefined,
): readonly Item[] {
  const slots = free.filter((ms) => ms >= startMs && ms < endMs);
  const items = [
    ...posts.map((placed) => ({ ms: placed.ms, placed })),
    ...slots.map((ms) => ({ ms, placed: undefined })),
  ].toSorted((one, other) => one.ms - other.ms);
  const tops = items.map(({ ms }) => {
    const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
    return (lineOf(lines, at, isSecond(ms, change)) * hourPx) / 60;
  });
  const stacked = stackDown(tops, CHIP_PX);
  return items.map((item, index) => ({ ...item, top: stacked[index] ?? 0 }));
}

interface DayColumnProps {
  readonly cell: Cell;
  readonly items: readonly Item[];
  readonly lines: WeekLines;
  readonly change: ClockChange | undefined;
  readonly look: Look;
  readonly isChosen: boolean;
  readonly isToday: boolean;
  readonly isDropTarget: boolean;
}

function DayColumn({ cell, items, lines, change, look, ...state }: DayColumnProps) {
  const words = useWords(calendarWords);
  const name = longDateOf(cell.day, look.language);
  return (
    <div
      role="gridcell"
      data-day={cell.day.toString()}
      tabIndex={state.isChosen ? 0 : -1}
      className={classNames(css.column, state.isDropTarget && css.drop)}
    >
      <span className="sr">{words.dayLabel(name, cell.posts.length)}</span>
      <Band lines={lines} change={change} />
      {state.isToday && <NowLine lines={lines} change={change} zone={look.zone} />}
      {items.map(({ ms, placed, top }) =>
        placed === undefined ? (
          <FreeSlot key={ms} ms={ms} top={top} look={look} />
        ) : (
          <Chip key={placed.post.id} placed={placed} look={look} top={top} />
        ),
      )}
    </div>
  );
}

interface NowLineProps extends Pick<DayColumnProps, "lines" | "change"> {
  readonly zone: string;
}

function NowLine({ lines, change, zone }: NowLineProps) {
  const now = useNow();
  const at = now.toZonedDateTimeISO(zone);
  const top = offsetOf(lineOf(lines, at, isSecond(now.epochMilliseconds, change)));
  return <span className={css.now} style={{ top }} aria-hidden="true" />;
}

/** Where the clocks change: the hour that is missing, and the one that comes twice. */
function Band({ lines, change }: Pick<DayColumnProps, "lines" | "change">) {
  const words = useWords(calendarWords);
  const { doubled } = lines;
  if (change?.kind === "gap") {
    const { start, end } = change.stretch;
    const below = doubled !== undefined && start >= doubled.end ? doubled.end - doubled.start : 0;
    return (
      <span
        className={classNames(css.band, css.missing)}
        style={bandAt(start + below, end - start)}
      >
        <span>{words.missing}</span>
      </span>
    );
  }
  if (doubled === undefined) return null;
  const isHere = change?.kind === "doubled";
  return (
    <span
      className={classNames(css.band, isHere ? css.again : css.single)}
      style={bandAt(doubled.end, doubled.end - doubled.start)}
    >
      {isHere && <span>{words.again}</span>}
    </span>
  );
}

function bandAt(minutes: number, length: number): CSSProperties {
  return { top: offsetOf(minutes), height: offsetOf(length) };
}

interface FreeSlotProps {
  readonly ms: number;
  readonly top: number;
  readonly look: Look;
}

function FreeSlot({ ms, top, look }: FreeSlotProps) {
  const words = useWords(calendarWords);
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(look.zone);
  return (
    <button
      type="button"
      tabIndex={-1}
      className={css.slot}
      data-slot={new Date(ms).toISOString()}
      style={{ top }}
    >
      <Plus className="i i-s" aria-hidden="true" />
      <span className="num">{words.slotAt(clockOf(at, look.language))}</span>
    </button>
  );
}
