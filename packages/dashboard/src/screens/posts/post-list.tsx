import type { PostSummary } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { memo, useMemo } from "react";
import { postsApi } from "../../posts/posts-api.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, dayHeadOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { groupByDay } from "./group-by-day.ts";
import { PostRow } from "./post-row.tsx";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import type { RowWords } from "./row-words.ts";

interface PostListProps {
  readonly posts: readonly PostSummary[];
}

/** The posts by the day of their time, latest first, with a line where the present is. */
export const PostList = memo(function PostList({ posts }: PostListProps) {
  const { language, zone } = useSettings();
  const kit = useWords(kitWords);
  const now = useNow();
  const days = useMemo(() => groupByDay(posts, zone, now), [posts, zone, now]);
  const words = useRowWords(posts);
  const accounts = useAccounts();
  const today = now.toZonedDateTimeISO(zone);
  return days.map(({ day, lines, first }) => {
    const head = dayHeadOf(toZoned(first, zone), today, { language, words: kit });
    return (
      <section key={day} aria-label={head}>
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
  });
});

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
