import type { ReadyMedia } from "@postrider/client";
import { useEffect, useEffectEvent } from "react";
import { api } from "../api/api.ts";
import { useStore } from "../settings/create-store.ts";
import { type Source, type Take, UploadManager } from "./upload-manager.ts";
import type { Upload } from "./upload-state.ts";

export interface Uploads {
  readonly uploads: readonly Upload[];
  readonly addFiles: (files: Iterable<File>) => void;
  readonly importFrom: (url: string) => void;
  /** Sends a file again whose connection was lost. */
  readonly repeat: (key: string) => void;
  /** Ends an upload, or takes away one that failed. */
  readonly remove: (key: string) => void;
}

const manager = new UploadManager(upload);

async function upload(
  source: Source,
  signal: AbortSignal,
  onProgress: (sentBytes: number, totalBytes: number) => void,
): Promise<ReadyMedia> {
  if ("url" in source) return await api.importMedia({ url: source.url }, { signal });
  return await api.uploadFile(source.file, {
    signal,
    onProgress: ({ sentBytes, totalBytes }) => onProgress(sentBytes, totalBytes),
  });
}

/** A browser cannot go on sending a file of a page that is gone, so that leaving it asks first. */
manager.uploads.subscribe(() => {
  const isSending = manager.uploads.get().some(({ state }) => state !== "failed");
  if (isSending) addEventListener("beforeunload", ask);
  else removeEventListener("beforeunload", ask);
});

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Whether a file is on its way to a place, whose screen may be left. */
export function isUploading(place: string): boolean {
  return manager.uploads.get().some((each) => each.place === place);
}

/** Whether files would be missed that are not with the server yet. */
export function hasUploads(): boolean {
  return manager.uploads.get().length > 0;
}

export function dropUploads(): void {
  manager.removeAll();
}

/**
 * The files on their way to a place. They go on when its screen is left: `keep` takes those
 * that are ready then, and what it needs it may not read from the screen.
 */
export function useUploads(place: string, take: Take, keep: Take = take): Uploads {
  const uploads = useStore(manager.uploads).filter((each) => each.place === place);
  const ready = useEffectEvent(take);
  useEffect(() => manager.show(place, (media, order) => ready(media, order)), [place]);
  const start = (source: Source) => manager.start(place, source, keep);
  return {
    uploads,
    addFiles: (files) => {
      for (const file of files) start({ file });
    },
    importFrom: (url) => start({ url }),
    repeat: (key) => manager.repeat(key),
    remove: (key) => manager.remove(key),
  };
}
