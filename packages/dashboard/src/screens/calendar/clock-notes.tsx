import { ClockArrowDown, ClockArrowUp } from "lucide-react";
import { Note } from "../../kit/card.tsx";
import { useSettings } from "../../settings/settings.ts";
import { weekdayOf } from "../../time/format-time.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import type { DayCell } from "./calendar-cells.ts";
import { calendarWords } from "./calendar-words.ts";
import { type ClockChange, textOf } from "./week-lines.ts";

interface ClockNotesProps {
  readonly cells: readonly DayCell[];
  readonly changes: readonly (ClockChange | undefined)[];
}

/** What happens to posts on the days of the week on which the clocks change. */
export function ClockNotes({ cells, changes }: ClockNotesProps) {
  return cells.map(({ day }, index) => {
    const change = changes[index];
    return change && <ClockNote key={day.toString()} day={day} change={change} />;
  });
}

interface ClockNoteProps {
  readonly day: Temporal.PlainDate;
  readonly change: ClockChange;
}

function ClockNote({ day, change: { kind, stretch } }: ClockNoteProps) {
  const words = useWords(calendarWords);
  const { zone, language } = useSettings();
  const weekday = weekdayOf(day, language, "long");
  const [start, end] = [textOf(stretch.start), textOf(stretch.end)] as const;
  const asked = textOf((stretch.start + stretch.end) / 2);
  const place = placeOf(zone, language);
  return kind === "gap" ? (
    <Note tone="info" icon={ClockArrowUp}>
      <b>{words.forward(weekday, place, start, end)}</b> {words.forwardHint(asked, end)}
    </Note>
  ) : (
    <Note tone="info" icon={ClockArrowDown}>
      <b>{words.back(weekday, place, start, end)}</b> {words.backHint(asked)}
    </Note>
  );
}
