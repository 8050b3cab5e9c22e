import { randomBytes } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Post, Posts } from "#src/world/posts.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { VideoMetadata } from "#src/youtube/video-metadata.ts";

/** The video exists as soon as its last byte has arrived. */
export interface Video {
  readonly id: string;
  readonly channel: string;
  readonly metadata: VideoMetadata;
  readonly bytes: number;
  /** Absent when YouTube cannot read the file, so that its processing fails. */
  readonly received?: ReceivedMedia;
  readonly createdAt: number;
  readonly deletedAt: number | null;
}

/** Long enough that a caller that polls every second sees the video in progress. */
const PROCESSING_MS = 1_200;

export function uploadStatusOf(video: Video, now: number): "uploaded" | "processed" | "failed" {
  if (now - video.createdAt < PROCESSING_MS) return "uploaded";

  return video.received === undefined ? "failed" : "processed";
}

export function existsAt({ createdAt, deletedAt }: Video, instant: number): boolean {
  return createdAt <= instant && (deletedAt === null || deletedAt > instant);
}

function optionsOf(metadata: VideoMetadata): Pick<Post, "options"> {
  const { categoryId, license, madeForKids, notifySubscribers = true } = metadata;
  const options = {
    ...(categoryId === "22" ? {} : { categoryId }),
    ...(license === "youtube" ? {} : { license }),
    ...(madeForKids ? { madeForKids } : {}),
    ...(notifySubscribers ? {} : { notifySubscribers }),
  };
  return Object.keys(options).length === 0 ? {} : { options };
}

/** Readers see public videos whose file YouTube can read. */
export class Videos {
  readonly #rows: Table<Video>;
  readonly #posts: Posts;
  readonly #byChannel = new Map<string, string[]>();

  constructor(store: Store, posts: Posts) {
    this.#rows = store.table<Video>("youtube.videos");
    this.#posts = posts;
    for (const video of this.#rows.values()) this.#index(video);

    store.onReset(() => this.#byChannel.clear());
  }

  get(id: string): Video | undefined {
    return this.#rows.get(id);
  }

  add(made: Omit<Video, "id" | "deletedAt">): Video {
    const video = { ...made, id: randomBytes(8).toString("base64url"), deletedAt: null };
    this.#rows.put(video.id, video);
    this.#index(video);
    this.#show(video);
    return video;
  }

  remove(video: Video, now: number): void {
    this.#rows.put(video.id, { ...video, deletedAt: now });
    const post = this.#postOf(video);
    if (post !== undefined) this.#posts.change(post, { deletedAt: now });
  }

  countRepeat(video: Video): void {
    const post = this.#postOf(video);
    if (post !== undefined) this.#posts.change(post, { createCalls: post.createCalls + 1 });
  }

  *newestFirst(channel: string): Generator<Video> {
    for (const id of (this.#byChannel.get(channel) ?? []).toReversed()) {
      const video = this.#rows.get(id);
      if (video !== undefined) yield video;
    }
  }

  #postOf({ channel, id }: Video) {
    return this.#posts.get({ platform: "youtube", externalId: channel }, id);
  }

  #show({ id, channel, metadata, received, createdAt, deletedAt }: Video): void {
    if (metadata.privacyStatus === "public" && received?.kind === "video") {
      const { kind, sha256 } = received;
      this.#posts.add({
        platform: "youtube",
        account: channel,
        id,
        text: metadata.description,
        media: [{ kind, sha256 }],
        createdAt,
        deletedAt,
        createCalls: 1,
        ...optionsOf(metadata),
      });
    }
  }

  #index({ id, channel }: Video): void {
    const ids = this.#byChannel.get(channel) ?? [];
    this.#byChannel.set(channel, ids);
    ids.push(id);
  }
}
