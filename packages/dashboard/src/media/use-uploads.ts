import type { ReadyMedia } from "@postrider/client";
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { api } from "../api/api.ts";
import { useLeaveGuard } from "../session/use-leave-guard.ts";
import { afterProgress, type Upload } from "./upload-state.ts";

export interface Uploads {
  readonly uploads: readonly Upload[];
  readonly addFiles: (files: Iterable<File>) => void;
  readonly importFrom: (url: string) => void;
  /** Sends a file again whose connection was lost. */
  readonly repeat: (key: string) => void;
  /** Ends an upload, or takes away one that failed. */
  readonly remove: (key: string) => void;
}

type Source = { readonly file: File } | { readonly url: string };

let lastKey = 0;

function toUpload(source: Source): Upload {
  lastKey += 1;
  const isFile = "file" in source;
  return {
    key: `upload-${lastKey}`,
    order: lastKey,
    fileName: isFile ? source.file.name : nameOf(source.url),
    previewUrl: isFile ? URL.createObjectURL(source.file) : undefined,
    kind: isFile && source.file.type.startsWith("video/") ? "video" : "image",
    state: "sending",
    sentBytes: 0,
    totalBytes: isFile ? source.file.size : 0,
    startedAt: Date.now(),
  };
}

function nameOf(url: string): string {
  return url.split(/[?#]/)[0]?.split("/").at(-1) || url;
}

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

/**
 * Files on their way. They end with the screen that holds them: a browser cannot go on sending a
 * file of a page that is gone, so that leaving it while one is sent asks first.
 */
export function useUploads(onReady: (media: ReadyMedia, order: number) => void): Uploads {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<string, Running>());
  const ready = useEffectEvent(onReady);
  const change = (key: string, next: (before: Upload) => Upload) =>
    setUploads((all) => all.map((each) => (each.key === key ? next(each) : each)));
  const drop = (key: string) => {
    running.current.get(key)?.abort.abort();
    running.current.delete(key);
    setUploads((all) => all.filter((each) => each.key !== key));
  };
  const send = async (key: string, order: number, source: Source) => {
    const abort = new AbortController();
    running.current.set(key, { source, order, abort });
    const { signal } = abort;
    try {
      const media = await upload(source, signal, (sent, total) =>
        change(key, (before) => afterProgress(before, sent, total)),
      );
      drop(key);
      ready(media, order);
    } catch (error) {
      if (!signal.aborted) change(key, (before) => ({ ...before, state: "failed", error }));
    }
  };
  const start = (source: Source) => {
    const begun = toUpload(source);
    setUploads((all) => [...all, begun]);
    void send(begun.key, begun.order, source);
  };
  useLeaveGuard(uploads.some(({ state }) => state !== "failed"));
  useEndOf(running);
  return {
    uploads,
    addFiles: (files) => {
      for (const file of files) start({ file });
    },
    importFrom: (url) => start({ url }),
    repeat: (key) => {
      const before = running.current.get(key);
      if (before === undefined) return;
      change(key, (upload) => ({ ...upload, state: "sending", sentBytes: 0 }));
      void send(key, before.order, before.source);
    },
    remove: drop,
  };
}

interface Running {
  readonly source: Source;
  readonly order: number;
  readonly abort: AbortController;
}

function useEndOf(running: RefObject<Map<string, Running>>): void {
  useEffect(() => {
    const { current } = running;
    return () => {
      for (const { abort } of current.values()) abort.abort();
    };
  }, [running]);
}
