import type { PostDetail, ReadyMedia } from "@postrider/client";
import { useState } from "react";
import { useUploads } from "../../media/use-uploads.ts";
import type { Composition } from "./composition.ts";
import { DescribeDialog } from "./describe-dialog.tsx";
import { keepReadyMedia } from "./draft-store.ts";
import { type DraftMedia, toDraftMedia, withReadyMedia } from "./draft.ts";
import { useMediaUrls } from "./use-media-urls.ts";

/** Of the files that this page has sent, by id. */
const orders = new Map<string, number>();

interface MediaProps {
  readonly composition: Composition;
  /** The name of the draft. */
  readonly name: string;
  readonly post: PostDetail | undefined;
}

/** The files of the draft: those on their way, their addresses, and their descriptions. */
export function useMedia({ composition: { draft, change }, name, post }: MediaProps) {
  const { urlOf, know } = useMediaUrls(draft.media, post?.media ?? []);
  const [described, setDescribed] = useState<DraftMedia>();
  const take = (ready: ReadyMedia, order: number) => {
    know(ready);
    orders.set(ready.id, order);
    change((before) => withReadyMedia(before, toDraftMedia(ready), orders));
  };
  const keep = (ready: ReadyMedia, order: number) => {
    orders.set(ready.id, order);
    keepReadyMedia(localStorage, name, toDraftMedia(ready), orders);
  };
  const uploads = useUploads(name, take, keep);
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
