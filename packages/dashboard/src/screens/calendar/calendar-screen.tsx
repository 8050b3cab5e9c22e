import type { PostSummary } from "@postrider/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { useLocation, useRouter } from "wouter";
import { queryClient } from "../../api/query-client.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { useIsSettled } from "../../kit/use-is-settled.ts";
import { useIsNarrow } from "../../kit/use-media.ts";
import { MoveDialog } from "../../posts/move-dialog.tsx";
import { atNewTimes, usePendingMoves } from "../../posts/pending-moves.ts";
import { queueApi } from "../../queue/queue-api.ts";
import { proposeTime } from "../../queue/queue-slots.ts";
import { useCan } from "../../session/session-context.ts";
import { readSettings, useSettings } from "../../settings/settings.ts";
import { longDateOf, monthOf, spanOf } from "../../time/format-time.ts";
import { toInstantText } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { AgendaList } from "./agenda.tsx";
import { postsOf } from "./calendar-api.ts";
import { CalendarBar } from "./calendar-bar.tsx";
import { calendarCells, type DayCell, takenTimes } from "./calendar-cells.ts";
import { lastOf, rangeOf, stepDay } from "./calendar-range.ts";
import { CalendarView } from "./calendar-view.tsx";
import { calendarWords } from "./calendar-words.ts";
import type { Look } from "./chip.tsx";
import { Ghost } from "./ghost.tsx";
import { Legend } from "./legend.tsx";
import { useGrid } from "./use-grid.ts";
import { useLocks } from "./use-locks.ts";
import { type Place, usePlace } from "./use-place.ts";

const NONE: readonly PostSummary[] = [];
/** The period that is shown is drawn by then: reading 1,000 posts takes 100 ms of two cores. */
const READ_AHEAD_AFTER_MS = 400;

/** Reads this month while the pointer is on the way to the calendar. */
export async function prepare(): Promise<void> {
  const today = Temporal.Now.plainDateISO(readSettings().zone);
  await queryClient.query(postsOf(rangeOf("month", today))).catch(() => undefined);
}

/** The posts of a range, of one account if it is chosen; the periods beside it are read ahead. */
function usePosts(place: Place) {
  const client = useQueryClient();
  const { data, error, refetch, isPending, isPlaceholderData } = useQuery(postsOf(place.range));
  const { view, day, account } = place;
  useEffect(() => {
    if (data === undefined || isPlaceholderData) return undefined;
    const readAhead = async () => {
      for (const by of [1, -1]) await client.query(postsOf(rangeOf(view, stepDay(view, day, by))));
    };
    const timer = setTimeout(() => void readAhead().catch(() => undefined), READ_AHEAD_AFTER_MS);
    return () => clearTimeout(timer);
    // Live changes of the shown period are no reason to read those beside it again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [data === undefined, isPlaceholderData, view, day.toString(), client]);
  const moves = usePendingMoves();
  const all = useMemo(() => atNewTimes(data ?? NONE, moves), [data, moves]);
  const posts = useMemo(() => {
    if (account === "") return all;
    return all.filter(({ targets }) => targets.some(({ accountId }) => accountId === account));
  }, [all, account]);
  const taken = useMemo(() => takenTimes(all), [all]);
  return { posts, taken, error, refetch, isPending };
}

function usePeriod({ view, day, range }: Place, isNarrow: boolean): string {
  const { language } = useSettings();
  if (view === "month") return monthOf(day, language);
  return spanOf([range.first, lastOf(range)], language, isNarrow);
}

function useCalendarKeys(place: Place): void {
  useKeys({
    t: place.goToday,
    "[": () => place.step(-1),
    "]": () => place.step(1),
    1: () => place.show("month"),
    2: () => place.show("week"),
    3: () => place.show("list"),
  });
}

/** What a press on an empty place of a day opens: the composer with a time that one can choose. */
function usePropose(taken: ReadonlySet<number>, canWrite: boolean) {
  const [, navigate] = useLocation();
  const { zone } = useSettings();
  const rules = useQuery(queueApi.rules()).data?.rules ?? [];
  return (day: string) => {
    const now = Temporal.Now.zonedDateTimeISO(zone);
    const at = proposeTime(rules, taken, Temporal.PlainDate.from(day), now);
    if (canWrite && at !== undefined) navigate(`/posts/new?at=${toInstantText(at)}`);
  };
}

export function CalendarScreen() {
  const words = useWords(calendarWords);
  const { zone, language } = useSettings();
  const { base } = useRouter();
  const canWrite = useCan()("posts:write");
  const isNarrow = useIsNarrow();
  const place = usePlace();
  const period = usePeriod(place, isNarrow);
  const { posts, taken, error, refetch, isPending } = usePosts(place);
  // The weeks grow with their posts.
  const isSettled = useIsSettled(isPending);
  const { range, view } = place;
  const cells = useMemo(() => calendarCells(posts, zone, range), [posts, zone, range]);
  const propose = usePropose(taken, canWrite);
  const onPropose = (day: string) =>
    isNarrow && view === "month" ? place.go(Temporal.PlainDate.from(day)) : propose(day);
  const grid = useGrid({ posts, place, canWrite, onPropose });
  const locked = useLocks(posts);
  const liftedId = grid.drag?.post.id;
  const look = useMemo(
    (): Look => ({ zone, language, base, locked, liftedId }),
    [zone, language, base, locked, liftedId],
  );
  useCalendarKeys(place);
  const label = words.gridLabel(period, placeOf(zone, language));
  return (
    <Page title={words.title}>
      <CalendarBar place={place} period={period} />
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isSettled && (
        <CalendarView
          {...{ label, cells, taken, place, look, grid, isNarrow, canWrite }}
          onPropose={propose}
        />
      )}
      {isSettled && <Legend cells={cells} canDrag={canWrite && view !== "list"} />}
      {grid.drag && <Ghost drag={grid.drag} />}
      {grid.moving && (
        <MoveDialog post={grid.moving} proposed={grid.proposed} onClose={grid.endMove} />
      )}
      {grid.openDay !== undefined && (
        <DayDialog cell={cells.find((one) => one.day.toString() === grid.openDay)} grid={grid} />
      )}
    </Page>
  );
}

interface DayDialogProps {
  readonly cell: DayCell | undefined;
  readonly grid: ReturnType<typeof useGrid>;
}

/** All posts of a day of which some are folded. */
function DayDialog({ cell, grid }: DayDialogProps) {
  const words = useWords(calendarWords);
  const kit = useWords(kitWords);
  const { language } = useSettings();
  if (cell === undefined) return null;
  return (
    <Dialog
      title={words.allOf(longDateOf(cell.day, language))}
      onClose={grid.closeDay}
      footer={<Button onClick={grid.closeDay}>{kit.close}</Button>}
    >
      <AgendaList posts={cell.posts} />
    </Dialog>
  );
}
