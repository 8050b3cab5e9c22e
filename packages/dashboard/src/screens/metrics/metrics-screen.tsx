import type { PostWordsJson } from "@postrider/rest/dashboard/cures";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { Segments } from "../../kit/segments.tsx";
import { Select } from "../../kit/select.tsx";
import { accountLabelOf } from "../../posts/account-name.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { WriteFirst } from "../../posts/write-first.tsx";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { ChartCard, sentAtOf } from "./chart-card.tsx";
import { metricsApi, type TargetHistory } from "./metrics-api.ts";
import { metricsWords } from "./metrics-words.ts";
import css from "./metrics.module.css";
import { NumberCard } from "./number-card.tsx";
import { MEASURES, seriesOf, WINDOW_HOURS, WINDOWS } from "./readings.ts";
import { TopPosts } from "./top-posts.tsx";
import { type Choice, useChoice } from "./use-choice.ts";

const DAYS = 30;
const NO_TARGETS: readonly TargetHistory[] = [];

/** The posts of the last 30 days that were seen most, and what they are. */
function useTopPosts(account: string) {
  const today = useNow().toZonedDateTimeISO("UTC").toPlainDate();
  const from = today.subtract({ days: DAYS }).toString();
  const sums = useQuery(metricsApi.sums(from, today.toString(), account));
  const ids = sums.data?.posts.map(({ postId }) => postId) ?? [];
  const { data } = useQuery(postsApi.words(ids));
  const details = new Map(data?.posts.map((post) => [post.postId, post]));
  return { ...sums, details };
}

export function MetricsScreen() {
  const words = useWords(metricsWords);
  const choice = useChoice();
  const { data, error, isPending, refetch, details } = useTopPosts(choice.account);
  const postId = choice.postId ?? data?.posts[0]?.postId;
  return (
    <Page title={words.title}>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton />}
      {postId === undefined ? (
        data && <NothingPublished choice={choice} isMore={data.isMore} />
      ) : (
        <OnePost postId={postId} choice={choice} details={details} />
      )}
      {data && <TopPosts posts={data.posts} details={details} isMore={data.isMore} />}
    </Page>
  );
}

interface FiltersProps {
  readonly choice: Choice;
  readonly details: ReadonlyMap<string, PostWordsJson>;
  readonly postId: string;
}

const MAX_LABEL = 60;

function Filters({ choice, details, postId }: FiltersProps) {
  const words = useWords(metricsWords);
  const accounts = useAccounts();
  const chosen = useQuery(postsApi.post(postId)).data?.post;
  const texts = new Map([...details.values()].map(({ postId: id, text }) => [id, text]));
  if (chosen) texts.set(chosen.id, chosen.content);
  return (
    <div className="filters scroll" data-filters>
      <Select
        label={words.post}
        className={css.post}
        value={postId}
        options={[...texts].map(([value, text]) => ({ value, label: text.slice(0, MAX_LABEL) }))}
        onChange={(id) => choice.set("post", id)}
      />
      <Select
        label={words.account}
        value={choice.account}
        isSet={choice.account !== ""}
        options={[
          { value: "", label: words.allAccounts },
          ...[...accounts.values()].map((account) => ({
            value: account.id,
            label: accountLabelOf(account),
          })),
        ]}
        onChange={(id) => choice.set("account", id)}
      />
      <Segments
        label={words.measure}
        value={choice.measure}
        segments={MEASURES.map((value) => ({ value, label: words.measures[value] }))}
        onChange={(value) => choice.set("measure", value)}
      />
      <Segments
        label={words.window}
        value={choice.window}
        segments={WINDOWS.map((value) => ({ value, label: words.windows[value] }))}
        onChange={(value) => choice.set("window", value)}
      />
    </div>
  );
}

function OnePost(props: FiltersProps) {
  return (
    <>
      <Filters {...props} />
      <ChartAndNumbers {...props} />
    </>
  );
}

function ChartAndNumbers({ postId, choice }: FiltersProps) {
  const { data, error, refetch } = useQuery(postsApi.post(postId));
  const history = useQuery(metricsApi.history(postId)).data?.targets ?? NO_TARGETS;
  const { account, measure, window } = choice;
  const post = data?.post;
  const series = useMemo(() => {
    if (post === undefined) return [];
    const shown = history.filter(({ accountId }) => account === "" || accountId === account);
    const sentMs = Date.parse(sentAtOf(post));
    return seriesOf(shown, { sentMs, measure, hours: WINDOW_HOURS[window] }, (target) => {
      const known = Object.entries(PLATFORMS).find(([id]) => id === target.platform);
      return known?.[1].mark ?? target.platform;
    });
  }, [post, history, account, measure, window]);
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (post === undefined) return <Skeleton />;
  const targets = post.targets.filter(({ accountId }) => account === "" || accountId === account);
  return (
    <div className={css.grid}>
      <ChartCard post={post} series={series} choice={choice} />
      <NumberCard post={post} targets={targets} history={history} series={series} />
    </div>
  );
}

interface NothingPublishedProps {
  readonly choice: Choice;
  /** Whether older publications were not counted. */
  readonly isMore: boolean;
}

function NothingPublished({ choice, isMore }: NothingPublishedProps) {
  const words = useWords(metricsWords);
  const account = useAccounts().get(choice.account);
  return (
    <Card>
      {choice.account === "" ? (
        <WriteFirst title={words.empty} hint={words.emptyHint} />
      ) : (
        <EmptyState
          title={isMore ? words.emptyOfNewest : words.emptyOfAccount}
          action={
            <Button onClick={() => choice.set("account", "")}>{words.showAllAccounts}</Button>
          }
        >
          {account && accountLabelOf(account)}
        </EmptyState>
      )}
    </Card>
  );
}
