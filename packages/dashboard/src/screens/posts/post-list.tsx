import type { Account, PostSummary } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { memo, useDeferredValue, useMemo } from "react";
import { FarRows } from "../../kit/far-rows.tsx";
import { toChunks } from "../../kit/to-chunks.ts";
import { useIsNear } from "../../kit/use-is-near.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, dayHeadOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { type Day, groupByDay, type Line } from "./group-by-day.ts";
import { type Place, PostRow } from "./post-row.tsx";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import type { KnownWords } from "./row-words.ts";

/** What a row that was not drawn yet is guessed to take. */
const ROW_REM = 2.8125;
/** Rows of the first screen. */
const FIRST = 20;

/** The posts by the day of their time, latest first, with a line where the present is. */
export const PostList = memo(function PostList({
  posts,
}: {
  readonly posts: readonly PostSummary[];
}) {
  const { zone } = useSettings();
  const now = useNow();
  // A page of further posts is drawn in short tasks.
  const drawn = useDeferredValue(posts);
  const days = useMemo(() => groupByDay(drawn, zone, now), [drawn, zone, now]);
  const words = useRowWords(posts);
  const accounts = useAccounts();
  return days.map(({ day, ...rest }, index) => {
    const given = { ...rest, isNearAtFirst: isInFirstScreen(days, index), words, accounts };
    return <DaySection key={day} isFirst={index === 0} {...given} />;
  });
});

function isInFirstScreen(days: readonly Day[], index: number): boolean {
  return index < FIRST && days.slice(0, index).flatMap(({ lines }) => lines).length < FIRST;
}

interface DayProps extends Omit<Day, "day"> {
  readonly isFirst: boolean;
  /** It begins in the first screen. */
  readonly isNearAtFirst: boolean;
  readonly words: ReadonlyMap<string, KnownWords>;
  readonly accounts: ReadonlyMap<string, Account>;
}

/** A page of further posts changes one day and those after it. */
const DaySection = memo(function DaySection({ first, isFirst, lines, ...rest }: DayProps) {
  const { language, zone } = useSettings();
  const kit = useWords(kitWords);
  const today = useNow().toZonedDateTimeISO(zone);
  const head = dayHeadOf(toZoned(first, zone), today, { language, words: kit });
  return (
    <section aria-label={head} className={isFirst ? undefined : css.nextDay}>
      <h3 className={css.dayHead}>{head}</h3>
      <div role="list">
        {toChunks(lines, idOf).map(({ rows, from }) => (
          <Chunk
            key={from === 0 ? "first" : idOf(rows[0])}
            lines={rows}
            from={from}
            size={lines.length}
            {...rest}
          />
        ))}
      </div>
    </section>
  );
}, isSame);

function idOf(line: Line | undefined): string | undefined {
  return line === "now" ? undefined : line?.id;
}

interface ChunkProps extends Omit<DayProps, "first" | "isFirst"> {
  /** The place of its first line in the day. */
  readonly from: number;
  /** Lines of the day. */
  readonly size: number;
}

/** Rows that are drawn while they are near to what is seen. */
const Chunk = memo(function Chunk({ lines, isNearAtFirst, ...rest }: ChunkProps) {
  const isNearNow = isNearAtFirst && rest.from < FIRST;
  const { ref, isNear, style } = useIsNear<HTMLDivElement>(isNearNow, lines.length * ROW_REM);
  return (
    <div ref={ref} className={css.chunk} style={style}>
      {isNear ? <Lines lines={lines} {...rest} /> : <FarRows rows={lines.flatMap(toFarRow)} />}
    </div>
  );
}, isSame);

function toFarRow(line: Line) {
  return line === "now" ? [] : { id: line.id, text: line.content };
}

function Lines({ lines, from, size, words, accounts }: Omit<ChunkProps, "isNearAtFirst">) {
  return lines.map((line, index) => {
    const place = { "aria-posinset": from + index + 1, "aria-setsize": size };
    return line === "now" ? (
      <Now key={line} {...place} />
    ) : (
      <PostRow
        key={line.id}
        post={line}
        words={words.get(line.id)}
        accounts={accounts}
        {...place}
      />
    );
  });
}

/** Whether all properties are the same: the lines, and why they failed, one by one. */
function isSame<P extends Pick<ChunkProps, "lines" | "words">>(
  { lines, words, ...one }: P,
  { lines: others, words: known, ...other }: P,
) {
  const wordsOf = (line: Line, of: ChunkProps["words"]) => line === "now" || of.get(line.id);
  return (
    Object.entries(one).every(([name, value]) => other[name as keyof typeof other] === value) &&
    lines.length === others.length &&
    lines.every(
      (line, index) => line === others[index] && wordsOf(line, words) === wordsOf(line, known),
    )
  );
}

function Now(place: Place) {
  const words = useWords(postsWords);
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  return (
    <div role="listitem" {...place} className={css.now}>
      <span className="num">{clockOf(now, language)}</span> {words.now(placeOf(zone, language))}
    </div>
  );
}

const MAX_IDS = 100;

/** Why the posts of the list failed that did. */
function useRowWords(posts: readonly PostSummary[]): ReadonlyMap<string, KnownWords> {
  const ids = posts
    .filter(({ status }) => status === "failed" || status === "partial")
    .map(({ id }) => id)
    .slice(0, MAX_IDS);
  const { data, isPending, isPlaceholderData } = useQuery(postsApi.words(ids));
  const isReading = isPending || isPlaceholderData;
  const named = ids.join(" ");
  return useMemo(() => {
    const known = new Map(data?.posts.map((words) => [words.postId, words]));
    const read = isReading ? "reading" : undefined;
    return new Map(named.split(" ").map((id) => [id, known.get(id) ?? read]));
  }, [data, isReading, named]);
}
