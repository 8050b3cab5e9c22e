import type { Account, PostSummary } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { memo, useMemo } from "react";
import { classNames } from "../../kit/class-names.ts";
import { useNear } from "../../kit/use-near.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, dayHeadOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { type Day, groupByDay } from "./group-by-day.ts";
import { PostRow } from "./post-row.tsx";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import type { RowWords } from "./row-words.ts";

interface PostListProps {
  readonly posts: readonly PostSummary[];
  /** These and those that are drawn in the next frames: why they failed is read together. */
  readonly known: readonly PostSummary[];
}

/** What a day that was not drawn yet is guessed to take. */
const HEAD_REM = 1.8125;
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
  readonly words: ReadonlyMap<string, RowWords>;
  readonly accounts: ReadonlyMap<string, Account>;
}

/** A list of 1,000 posts grows in 200 steps, of which each changes one day. */
const DaySection = memo(function DaySection(props: DayProps) {
  const { first, isFirst, lines, words, accounts } = props;
  const { language, zone } = useSettings();
  const kit = useWords(kitWords);
  const today = useNow().toZonedDateTimeISO(zone);
  const ref = useNear<HTMLElement>();
  const head = dayHeadOf(toZoned(first, zone), today, { language, words: kit });
  return (
    <section
      ref={ref}
      aria-label={head}
      className={classNames(css.day, !isFirst && css.nextDay)}
      style={{ containIntrinsicBlockSize: `auto ${HEAD_REM + lines.length * ROW_REM}rem` }}
    >
      <h3 className={css.dayHead}>{head}</h3>
      <ul>
        {lines.map((line) =>
          line === "now" ? (
            <Now key={line} />
          ) : (
            <PostRow key={line.id} post={line} words={words.get(line.id)} accounts={accounts} />
          ),
        )}
      </ul>
    </section>
  );
}, isSame);

function isSame({ lines, ...one }: DayProps, { lines: others, ...other }: DayProps): boolean {
  return (
    one.first === other.first &&
    one.isFirst === other.isFirst &&
    one.words === other.words &&
    one.accounts === other.accounts &&
    lines.length === others.length &&
    lines.every((line, index) => line === others[index])
  );
}

function Now() {
  const words = useWords(postsWords);
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  return (
    <li className={css.now}>
      <span className="num">{clockOf(now, language)}</span> {words.now(placeOf(zone, language))}
    </li>
  );
}

const MAX_IDS = 100;

/** Why the posts of the list failed that did. */
function useRowWords(posts: readonly PostSummary[]): ReadonlyMap<string, RowWords> {
  const ids = posts
    .filter(({ status }) => status === "failed" || status === "partial")
    .map(({ id }) => id)
    .slice(0, MAX_IDS);
  const { data } = useQuery(postsApi.words(ids));
  return useMemo(() => new Map(data?.posts.map((words) => [words.postId, words])), [data]);
}
