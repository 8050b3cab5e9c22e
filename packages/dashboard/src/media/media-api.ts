import type { LibraryMediaJson, MediaLibraryJson } from "@postrider/rest/dashboard/media";
import { infiniteQueryOptions } from "@tanstack/react-query";
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
