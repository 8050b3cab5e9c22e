import type { PostDetail } from "@postrider/client";
import { useRef, useState } from "react";
import { useUploads } from "../../media/use-uploads.ts";
import type { Composition } from "./composition.ts";
import { DescribeDialog } from "./describe-dialog.tsx";
import { type DraftMedia, toDraftMedia, withReadyMedia } from "./draft.ts";
import { useMediaUrls } from "./use-media-urls.ts";

/** The files of the draft: those on their way, their addresses, and their descriptions. */
export function useMedia({ draft, change }: Composition, post: PostDetail | undefined) {
  const { urlOf, know } = useMediaUrls(draft.media, post?.media ?? []);
  const [described, setDescribed] = useState<DraftMedia>();
  const orders = useRef(new Map<string, number>());
  const uploads = useUploads((ready, order) => {
    know(ready);
    orders.current.set(ready.id, order);
    change((before) => withReadyMedia(before, toDraftMedia(ready), orders.current));
  });
  const save = (altText: string | null) =>
    change((before) => ({
      ...before,
      media: before.media.map((each) => (each.id === described?.id ? { ...each, altText } : each)),
    }));
  return {
    urlOf,
    uploads,
    running: uploads.uploads.filter(({ state }) => state !== "failed").length,
    describe: setDescribed,
    dialog: described && (
      <DescribeDialog
        media={described}
        url={urlOf(described.id)}
        onSaved={save}
        onClose={() => setDescribed(undefined)}
      />
    ),
  };
}
