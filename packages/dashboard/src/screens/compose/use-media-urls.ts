import type { ReadyMedia } from "@postrider/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mediaApi } from "../../media/media-api.ts";
import type { DraftMedia } from "./draft.ts";

type Addressed = Pick<ReadyMedia, "id" | "url">;

/**
 * Addresses of the files of a draft. They are signed and end after a while, so that none is kept
 * with the draft: after a reload they are looked up among the newest files of the workspace.
 */
export function useMediaUrls(media: readonly DraftMedia[], first: readonly Addressed[]) {
  const [known, setKnown] = useState(() => new Map(first.map(({ id, url }) => [id, url])));
  const isMissing = media.some(({ id }) => !known.has(id));
  const library = useInfiniteQuery({ ...mediaApi.library({}), enabled: isMissing });
  const found = new Map(
    library.data?.pages.flatMap((page) => page.media.map(({ id, url }) => [id, url] as const)),
  );
  return {
    urlOf: (id: string) => known.get(id) ?? found.get(id),
    know: ({ id, url }: Addressed) => setKnown((before) => new Map(before).set(id, url)),
  };
}
