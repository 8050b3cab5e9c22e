import type { PostSummary } from "@postrider/client";
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../api/api.ts";
import { queryClient } from "../../api/query-client.ts";
import { readSettings, useSettings } from "../../settings/settings.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { useNow } from "../../time/use-now.ts";
import { daysOf, type Filters, statusesOf } from "./filters.ts";
import { type Lists, mergePages, type PostPage, timeOf } from "./merge-pages.ts";

/** What fills a screen. */
const FIRST_PAGE = 20;
/** Few requests, since a change of one post reads all pages of the list again. */
const NEXT_PAGE = 100;

type Cursors = Readonly<Record<string, string | null>>;
/** One page of each list of a tab. */
type Page = Readonly<Record<string, PostPage>>;

function pagesOf(filters: Filters, zone: string, today: string) {
  return infiniteQueryOptions({
    queryKey: ["post", "list", filters, zone, today],
    queryFn: ({ pageParam, signal }) => readPage(filters, pageParam, today, signal),
    initialPageParam: Object.fromEntries(
      statusesOf(filters.tab).map((name) => [name ?? "all", ""]),
    ) as Cursors,
    getNextPageParam: cursorsAfter,
    placeholderData: keepPreviousData,
  });
}

/** Reads the first page before the list is drawn. */
export async function readFirstPage(filters: Filters): Promise<void> {
  const { zone } = readSettings();
  const today = Temporal.Now.plainDateISO(zone).toString();
  await queryClient.infiniteQuery(pagesOf(filters, zone, today));
}

/** The posts of a tab with its filters, latest first. */
export function usePostList(filters: Filters) {
  const { zone } = useSettings();
  const today = useNow().toZonedDateTimeISO(zone).toPlainDate().toString();
  const query = useInfiniteQuery(pagesOf(filters, zone, today));
  const { data } = query;
  const posts = useMemo(() => {
    const merged = mergePages(toLists(data?.pages ?? []));
    return merged.filter((post) => isInRange(post, filters, zone, today));
  }, [data, filters, zone, today]);
  return { ...query, posts };
}

async function readPage(
  { platform, via, range, tab }: Filters,
  cursors: Cursors,
  today: string,
  signal: AbortSignal,
): Promise<Page> {
  const days = range && daysOf(range, Temporal.PlainDate.from(today));
  // The interface takes UTC dates: one day more on both sides, or posts near midnight are missing.
  const dates = days && {
    from: days[0].subtract({ days: 1 }).toString(),
    to: days[1].add({ days: 1 }).toString(),
  };
  const lists = statusesOf(tab).filter((status) => cursors[status ?? "all"] !== null);
  const pages = lists.map(async (status) => {
    const cursor = cursors[status ?? "all"] || undefined;
    const limit = cursor === undefined ? FIRST_PAGE : NEXT_PAGE;
    const given = { limit, status, platform, createdVia: via, ...dates };
    const query = Object.entries({ ...given, cursor }).filter((entry) => entry[1] !== undefined);
    const page = await api.listPosts(Object.fromEntries(query), { signal });
    return [status ?? "all", page] as const;
  });
  return Object.fromEntries(await Promise.all(pages));
}

/** Where each list goes on: null at its end. Undefined when all have ended. */
function cursorsAfter(_last: Page, pages: readonly Page[]): Cursors | undefined {
  const lists = Object.entries(toLists(pages));
  const cursors = lists.map(([name, read]) => [name, read.at(-1)?.nextCursor ?? null] as const);
  return cursors.some(([, cursor]) => cursor !== null) ? Object.fromEntries(cursors) : undefined;
}

function toLists(pages: readonly Page[]): Lists {
  const lists: Record<string, PostPage[]> = {};
  for (const page of pages)
    for (const [name, read] of Object.entries(page)) (lists[name] ??= []).push(read);
  return lists;
}

function isInRange(post: PostSummary, { range }: Filters, zone: string, today: string): boolean {
  if (range === undefined) return true;
  const [first, last] = daysOf(range, Temporal.PlainDate.from(today));
  const day = toZoned(timeOf(post), zone).toPlainDate();
  return first.until(day).sign >= 0 && day.until(last).sign >= 0;
}
