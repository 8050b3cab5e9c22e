import type { OverviewJson } from "@postrider/rest/dashboard/overview";
import { useQuery } from "@tanstack/react-query";
import { ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { useSearchParams } from "wouter";
import { overviewApi } from "../../api/overview-api.ts";
import { queryClient } from "../../api/query-client.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { MoreButton } from "../../kit/more-button.tsx";
import { Page } from "../../kit/page.tsx";
import { useIsLate } from "../../kit/use-is-late.ts";
import { useIsSettled } from "../../kit/use-is-settled.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { useReturnedAccount } from "../../posts/use-returned-account.ts";
import { useWords } from "../../words/use-words.ts";
import { FilterBar, FilterButton, textOf } from "./filter-bar.tsx";
import { type Filters, isSet, parseFilters, toParameters } from "./filters.ts";
import { NeedsYou } from "./needs-you.tsx";
import { NoPosts } from "./no-posts.tsx";
import { PostList } from "./post-list.tsx";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import { useHeldBack } from "./use-held-back.ts";
import { useListKeys } from "./use-list-keys.tsx";
import { readFirstPage, usePostList } from "./use-post-list.ts";

/** Reads what the screen shows first while the session is not known yet. */
export function prepare(): void {
  const first = [
    readFirstPage(parseFilters(new URLSearchParams(location.search))),
    queryClient.query(overviewApi.overview()),
    queryClient.query(postsApi.accounts()),
  ];
  // The component that needs it asks again, and shows why it could not be read.
  for (const read of first) read.catch(() => undefined);
}

/** What needs a person first, and then all posts. */
export function PostsScreen() {
  const words = useWords(postsWords);
  const [parameters, setParameters] = useSearchParams();
  const filters = parseFilters(parameters);
  const { data: overview, isPending } = useQuery(overviewApi.overview());
  // What needs a person stands above the list.
  const isSettled = useIsSettled(isPending);
  useReturnedAccount();
  if (!isSettled) return <Page title={words.title}>{null}</Page>;
  return (
    <Page title={words.title} actions={<FilterButton />}>
      {overview && <NeedsYou overview={overview} />}
      <FilterBar
        filters={filters}
        overview={overview}
        onChange={(next) => setParameters(toParameters(next), { replace: true })}
      />
      <List filters={filters} overview={overview} onClear={() => setParameters({})} />
    </Page>
  );
}

interface ListProps {
  readonly filters: Filters;
  readonly overview: OverviewJson | undefined;
  readonly onClear: () => void;
}

function List({ filters, overview, onClear }: ListProps): ReactNode {
  const list = usePostList(filters);
  const { posts, error, isPending, isPlaceholderData, hasNextPage, refetch } = list;
  const isLate = useIsLate(isPlaceholderData);
  const { shown, heldCount, show } = useHeldBack(posts, JSON.stringify(filters));
  const dialog = useListKeys(posts);
  if (isPending || isLate)
    return (
      <Card className={css.list}>
        <Skeleton rows={10} />
      </Card>
    );
  // A page of a list that goes on may be empty.
  if (posts.length === 0 && (error !== null || !hasNextPage))
    return error === null ? (
      <Card>
        <NoPosts filters={filters} onClear={onClear} />
      </Card>
    ) : (
      <ErrorNotice error={error} onRetry={() => void refetch()} />
    );
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <Card
        className={css.list}
        footer={<ListFoot list={list} filters={filters} all={overview?.counts.all} />}
      >
        {heldCount > 0 && <NewRows count={heldCount} onShow={show} />}
        <PostList posts={shown} />
      </Card>
      {dialog}
    </>
  );
}

interface NewRowsProps {
  readonly count: number;
  readonly onShow: () => void;
}

function NewRows({ count, onShow }: NewRowsProps) {
  const words = useWords(postsWords);
  return (
    <Button kind="ghost" small block icon={ArrowUp} onClick={onShow}>
      {words.newRows(count)}
    </Button>
  );
}

interface ListFootProps {
  readonly list: ReturnType<typeof usePostList>;
  readonly filters: Filters;
  readonly all: OverviewJson["counts"]["all"] | undefined;
}

function ListFoot({ list, filters, all }: ListFootProps) {
  const words = useWords(postsWords);
  const { posts } = list;
  const isAll = filters.tab === "all" && !isSet(filters) && all !== undefined;
  return (
    <>
      <span>
        {isAll ? words.showing(posts.length, textOf(all)) : words.showingOnly(posts.length)}
      </span>
      <MoreButton small list={list} className="push">
        {words.showMore}
      </MoreButton>
    </>
  );
}
