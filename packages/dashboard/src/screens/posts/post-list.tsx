import type { Account, PostSummary } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { memo, useMemo } from "react";
import { toChunks } from "../../kit/to-chunks.ts";
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
import { PostRow } from "./post-row.tsx";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import type { KnownWords } from "./row-words.ts";

interface PostListProps {
  readonly posts: readonly PostSummary[];
  /** These and those that are drawn in the next frames: why they failed is read together. */
  readonly known: readonly PostSummary[];
}

/** What a row that was not laid out yet is guessed to take. */
const ROW_REM = 2.8125;

/** The posts by the day of their time, latest first, with a line where the present is. */
export const PostList = memo(function PostList({ posts, known }: PostListProps) {
  const { zone } = useSettings();
  const now = useNow();
  const days = useMemo(() => groupByDay(posts, zone, now), [posts, zone, now]);
  const words = useRowWords(known);
  const accounts = useAccounts();
  return days.map(({ day, ...rest }, index) => (
    <DaySection key={day} isFirst={index === 0} {...{ ...rest, words, accounts }} />
  ));
});

interface DayProps extends Omit<Day, "day"> {
  readonly isFirst: boolean;
  readonly words: ReadonlyMap<string, KnownWords>;
  readonly accounts: ReadonlyMap<string, Account>;
}

/** A list of 1,000 posts grows in 200 steps, of which each changes one day. */
const DaySection = memo(function DaySection({ first, isFirst, lines, ...rest }: DayProps) {
  const { language, zone } = useSettings();
  const kit = useWords(kitWords);
  const today = useNow().toZonedDateTimeISO(zone);
  const head = dayHeadOf(toZoned(first, zone), today, { language, words: kit });
  return (
    <section aria-label={head} className={isFirst ? undefined : css.nextDay}>
      <h3 className={css.dayHead}>{head}</h3>
      <div role="list">
        {toChunks(lines, idOf).map((chunk, index) => (
          <Chunk key={index === 0 ? "first" : idOf(chunk[0])} lines={chunk} {...rest} />
        ))}
      </div>
    </section>
  );
}, isSame);

function idOf(line: Line | undefined): string | undefined {
  return line === "now" ? undefined : line?.id;
}

type ChunkProps = Omit<DayProps, "first" | "isFirst">;

/** Rows that are laid out and painted together while they are near to what is seen. */
const Chunk = memo(function Chunk({ lines, words, accounts }: ChunkProps) {
  return (
    <div
      className={css.chunk}
      style={{ containIntrinsicBlockSize: `auto ${lines.length * ROW_REM}rem` }}
    >
      {lines.map((line) =>
        line === "now" ? (
          <Now key={line} />
        ) : (
          <PostRow key={line.id} post={line} words={words.get(line.id)} accounts={accounts} />
        ),
      )}
    </div>
  );
}, isSame);

/** Whether all properties are the same: the lines, and why they failed, one by one. */
function isSame<P extends ChunkProps>(
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

function Now() {
  const words = useWords(postsWords);
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  return (
    <div role="listitem" className={css.now}>
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
