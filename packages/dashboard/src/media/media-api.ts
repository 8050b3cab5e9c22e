import type { LibraryMediaJson, MediaLibraryJson } from "@postrider/rest/dashboard/media";
import { type InfiniteData, infiniteQueryOptions, type QueryClient } from "@tanstack/react-query";
import { appApi } from "../api/app-api.ts";

export interface LibraryFilter {
  readonly kind?: "video" | undefined;
  readonly unused?: true | undefined;
  readonly withoutAltText?: true | undefined;
}

const PAGE = 50;

export const mediaApi = {
  /** The files of the workspace, newest first. */
  library: (filter: LibraryFilter) =>
    infiniteQueryOptions({
      queryKey: ["media", "list", filter],
      queryFn: ({ pageParam, signal }) =>
        appApi<Library>("GET", "/media", {
          query: { ...filter, limit: PAGE, ...pageParam },
          signal,
        }),
      initialPageParam: {},
      getNextPageParam: ({ nextCursor }) =>
        nextCursor === null ? undefined : { cursor: nextCursor },
    }),
};

export interface LibraryMedia extends LibraryMediaJson {
  readonly kind: "image" | "video";
}

interface Library extends MediaLibraryJson {
  media: LibraryMedia[];
}

/** Shows a saved description before the lists are read again: the file may be used at once. */
export function describeInLists(client: QueryClient, saved: Pick<LibraryMedia, "id" | "altText">) {
  const describe = <Page extends MediaLibraryJson>(page: Page): Page => ({
    ...page,
    media: page.media.map((file) =>
      file.id === saved.id ? { ...file, altText: saved.altText } : file,
    ),
  });
  client.setQueriesData<InfiniteData<Library> | MediaLibraryJson>(
    { queryKey: ["media", "list"] },
    (list) => {
      if (list === undefined) return undefined;
      return "pages" in list ? { ...list, pages: list.pages.map(describe) } : describe(list);
    },
  );
}
