import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { postsApi } from "./posts-api.ts";
import type { ListMedia } from "./thumbnail.tsx";

/** The newest files by id, for the small pictures of a list. */
export function useNewestMedia(): ReadonlyMap<string, ListMedia> {
  const { data } = useQuery(postsApi.thumbnails());
  return useMemo(() => new Map(data?.media.map((file) => [file.id, file])), [data]);
}
