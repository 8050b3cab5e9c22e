import type { ReadyMedia } from "@postrider/client";
import { createStore } from "../settings/create-store.ts";
import { afterProgress, type Upload } from "./upload-state.ts";

export type Source = { readonly file: File } | { readonly url: string };

/** Takes a file that is ready; one that was chosen later has a higher order. */
export type Take = (media: ReadyMedia, order: number) => void;

type Send = (
  source: Source,
  signal: AbortSignal,
  onProgress: (sentBytes: number, totalBytes: number) => void,
) => Promise<ReadyMedia>;

interface Running {
  readonly source: Source;
  readonly upload: Upload;
  readonly keep: Take;
  readonly abort: AbortController;
}

/**
 * Files on their way, each for a place such as a draft. They go on while the screen of their place
 * is not shown, and end with the page.
 */
export class UploadManager {
  readonly uploads = createStore<readonly Upload[]>([]);
  readonly #running = new Map<string, Running>();
  /** By place, of the screens that are shown. */
  readonly #takers = new Map<string, Take>();
  readonly #send: Send;
  #lastOrder = 0;

  constructor(send: Send) {
    this.#send = send;
  }

  /** @param keep Takes the file if the screen of the place is not shown when it is ready. */
  start(place: string, source: Source, keep: Take): void {
    this.#lastOrder += 1;
    const upload = toUpload(place, source, this.#lastOrder);
    this.uploads.set([...this.uploads.get(), upload]);
    void this.#run({ source, upload, keep, abort: new AbortController() });
  }

  /** Sends a file again whose connection was lost. */
  repeat(key: string): void {
    const before = this.#running.get(key);
    if (before === undefined) return;
    this.#change(key, (upload) => ({ ...upload, state: "sending", sentBytes: 0 }));
    void this.#run({ ...before, abort: new AbortController() });
  }

  /** Ends an upload, or takes away one that failed. */
  remove(key: string): void {
    this.#running.get(key)?.abort.abort();
    this.#running.delete(key);
    this.uploads.set(this.uploads.get().filter((each) => each.key !== key));
  }

  removeAll(): void {
    for (const { key } of this.uploads.get()) this.remove(key);
  }

  /** While a screen is shown it takes the files of its place. Returns how to leave it. */
  show(place: string, take: Take): () => void {
    this.#takers.set(place, take);
    return () => {
      this.#takers.delete(place);
      // A failure was seen on the screen that is left.
      for (const { key, place: other, state } of this.uploads.get())
        if (other === place && state === "failed") this.remove(key);
    };
  }

  async #run(running: Running): Promise<void> {
    const { source, upload, keep, abort } = running;
    const { key, place, order } = upload;
    this.#running.set(key, running);
    try {
      const media = await this.#send(source, abort.signal, (sent, total) =>
        this.#change(key, (before) => afterProgress(before, sent, total)),
      );
      if (abort.signal.aborted) return;
      this.remove(key);
      (this.#takers.get(place) ?? keep)(media, order);
    } catch (error) {
      if (!abort.signal.aborted)
        this.#change(key, (before) => ({ ...before, state: "failed", error }));
    }
  }

  #change(key: string, next: (before: Upload) => Upload): void {
    this.uploads.set(this.uploads.get().map((each) => (each.key === key ? next(each) : each)));
  }
}

function toUpload(place: string, source: Source, order: number): Upload {
  const isFile = "file" in source;
  return {
    key: `upload-${order}`,
    place,
    order,
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
