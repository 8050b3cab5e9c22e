import type { ReadyMedia } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { postsApi } from "../../posts/posts-api.ts";
import type { DraftMedia } from "./draft.ts";

type Addressed = Pick<ReadyMedia, "id" | "url">;

/**
 * Addresses of the files of a draft. They are signed and end after a while, so that none is kept
 * with the draft: after a reload they are looked up among the newest files of the workspace.
 */
export function useMediaUrls(media: readonly DraftMedia[], first: readonly Addressed[]) {
  const [known, setKnown] = useState(() => new Map(first.map(({ id, url }) => [id, url])));
  const isMissing = media.some(({ id }) => !known.has(id));
  const library = useQuery({ ...postsApi.newestMedia(), enabled: isMissing });
  const found = new Map(library.data?.media.map(({ id, url }) => [id, url]));
  return {
    urlOf: (id: string) => known.get(id) ?? found.get(id),
    know: ({ id, url }: Addressed) => setKnown((before) => new Map(before).set(id, url)),
  };
}
