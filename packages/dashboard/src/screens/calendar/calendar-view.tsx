import type { QueueSlotRule } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Card } from "../../kit/card.tsx";
import { WriteFirst } from "../../posts/write-first.tsx";
import { queueApi } from "../../queue/queue-api.ts";
import { queueSlots } from "../../queue/queue-slots.ts";
import { useSettings } from "../../settings/settings.ts";
import { dayHeadOf, longDateOf } from "../../time/format-time.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { Agenda } from "./agenda.tsx";
import type { DayCell } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import type { Look } from "./chip.tsx";
import { ClockNotes } from "./clock-notes.tsx";
import { MonthGrid } from "./month-grid.tsx";
import { PostTable } from "./post-table.tsx";
import type { Grid } from "./use-grid.ts";
import type { Place } from "./use-place.ts";
import { DayHours, WeekGrid } from "./week-grid.tsx";
import { changeOn } from "./week-lines.ts";

interface CalendarViewProps {
  readonly label: string;
  readonly cells: readonly DayCell[];
  /** When posts are due, also those of accounts that are not shown. */
  readonly taken: ReadonlySet<number>;
  readonly place: Place;
  readonly look: Look;
  readonly grid: Grid;
  readonly isNarrow: boolean;
  readonly canWrite: boolean;
  /** Opens the composer with a time of the day. */
  readonly onPropose: (day: string) => void;
}

const NO_RULES: readonly QueueSlotRule[] = [];

export function CalendarView(props: CalendarViewProps) {
  const { place, canWrite } = props;
  const rules = useQuery(queueApi.rules()).data?.rules ?? NO_RULES;
  if (place.view === "month") return <MonthView {...props} rules={rules} />;
  if (place.view === "week") return <WeekView {...props} rules={rules} />;
  const { cells, look, grid } = props;
  if (cells.every(({ posts }) => posts.length === 0)) return <NothingPlanned canWrite={canWrite} />;
  return (
    <PostTable
      cells={cells}
      locked={look.locked}
      rules={rules}
      onMove={canWrite ? grid.startMove : undefined}
    />
  );
}

type ViewProps = CalendarViewProps & { readonly rules: readonly QueueSlotRule[] };

function MonthView({ rules, canWrite, ...props }: ViewProps) {
  const { cells, place, isNarrow } = props;
  const words = useWords(kitWords);
  const { zone, language } = useSettings();
  const free = useMemo(
    () => (canWrite ? rules.flatMap(({ nextSlots }) => nextSlots.slice(0, 1)) : []),
    [rules, canWrite],
  ).map((at) => Date.parse(at));
  const chosen = cells.find(({ day }) => day.equals(place.day));
  const now = place.today.toZonedDateTime(zone);
  return (
    <>
      <MonthGrid {...props} free={free} />
      {isNarrow && chosen && (
        <Agenda
          title={dayHeadOf(chosen.day.toZonedDateTime(zone), now, { language, words })}
          posts={chosen.posts}
          onNew={
            canWrite && Temporal.PlainDate.compare(chosen.day, place.today) >= 0
              ? () => props.onPropose(chosen.day.toString())
              : undefined
          }
        />
      )}
    </>
  );
}

/** The slots of the week that no post has taken, from now on. */
function useFree({ cells, taken, rules, canWrite }: ViewProps): readonly number[] {
  const nowMs = useNow().epochMilliseconds;
  return useMemo(() => {
    const startMs = Math.max(nowMs, cells[0]?.startMs ?? 0);
    const endMs = cells.at(-1)?.endMs ?? 0;
    if (!canWrite || endMs <= startMs) return [];
    return queueSlots(rules, startMs, endMs).flatMap(({ ms }) => (taken.has(ms) ? [] : [ms]));
  }, [cells, taken, rules, canWrite, nowMs]);
}

function WeekView(props: ViewProps) {
  const { cells, grid, isNarrow } = props;
  const { zone, language } = useSettings();
  const free = useFree(props);
  const changes = useMemo(() => cells.map(({ day }) => changeOn(day, zone)), [cells, zone]);
  return (
    <>
      <ClockNotes cells={cells} changes={changes} />
      {isNarrow ? (
        cells.map(({ day, posts, startMs, endMs }) => (
          <Agenda
            key={day.toString()}
            title={longDateOf(day, language)}
            mark={<DayHours day={day} />}
            posts={posts}
            free={free.filter((ms) => ms >= startMs && ms < endMs)}
            onSlot={grid.onSlot}
          />
        ))
      ) : (
        <WeekGrid {...props} changes={changes} free={free} />
      )}
    </>
  );
}

function NothingPlanned({ canWrite }: { readonly canWrite: boolean }) {
  const words = useWords(calendarWords);
  return (
    <Card>
      <WriteFirst title={words.empty} hint={words.emptyHint} canWrite={canWrite} />
    </Card>
  );
}
