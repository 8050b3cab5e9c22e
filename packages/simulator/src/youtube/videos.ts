import { randomBytes } from "node:crypto";
import type { Store, Table } from "#src/store/store.ts";
import type { Post, Posts } from "#src/world/posts.ts";
import type { Comment, Reactions } from "#src/world/reactions.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { VideoMetadata } from "#src/youtube/video-metadata.ts";

/** The video exists as soon as its last byte has arrived. */
export interface Video {
  readonly id: string;
  readonly channel: string;
  readonly metadata: VideoMetadata;
  readonly bytes: number;
  /** Absent when YouTube cannot read the file, so that its processing fails. */
  readonly received?: ReceivedMedia | undefined;
  readonly createdAt: number;
  readonly deletedAt: number | null;
}

/** Long enough that a caller that polls every second sees the video in progress. */
const PROCESSING_MS = 1_200;

export function uploadStatusOf(video: Video, now: number): "uploaded" | "processed" | "failed" {
  if (now - video.createdAt < PROCESSING_MS) return "uploaded";
  return video.received === undefined ? "failed" : "processed";
}

/** The options that differ from YouTube's defaults. */
function optionsOf(metadata: VideoMetadata): Post["options"] {
  const { categoryId, license, madeForKids, notifySubscribers = true } = metadata;
  const options = {
    ...(categoryId === "22" ? {} : { categoryId }),
    ...(license === "youtube" ? {} : { license }),
    ...(madeForKids ? { madeForKids } : {}),
    ...(notifySubscribers ? {} : { notifySubscribers }),
  };
  return Object.keys(options).length === 0 ? undefined : options;
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
    if (post !== undefined) this.#posts.countCall(post);
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

  #show({ id, channel, metadata, received, createdAt }: Video): void {
    if (metadata.privacyStatus === "public" && received?.kind === "video") {
      const { kind, sha256 } = received;
      this.#posts.add({
        platform: "youtube",
        account: channel,
        id,
        text: metadata.description,
        media: [{ kind, sha256 }],
        createdAt,
        options: optionsOf(metadata),
      });
    }
  }

  #index({ id, channel }: Video): void {
    const ids = this.#byChannel.get(channel) ?? [];
    this.#byChannel.set(channel, ids);
    ids.push(id);
  }
}

const OWN_PLAYLIST = /^PL(?<channel>.{22})/;

/** A channel `UC…` has every playlist whose id begins with `PL…`. */
export function ownerOfPlaylist(playlistId: string): string | undefined {
  const channel = OWN_PLAYLIST.exec(playlistId)?.groups?.["channel"];
  return channel === undefined ? undefined : `UC${channel}`;
}

/** As on the real YouTube, a playlist contains a video once for each time that it was added. */
export class Playlists {
  readonly #rows: Table<readonly string[]>;

  constructor(store: Store) {
    this.#rows = store.table<readonly string[]>("youtube.playlists");
  }

  videosOf(playlistId: string): readonly string[] {
    return this.#rows.get(playlistId) ?? [];
  }

  add(playlistId: string, videoId: string): void {
    this.#rows.put(playlistId, [...this.videosOf(playlistId), videoId]);
  }
}

export type ModerationStatus = "published" | "heldForReview" | "rejected" | "likelySpam";

export interface ChannelReply {
  readonly id: string;
  readonly channel: string;
  readonly parentId: string;
  readonly videoId: string;
  readonly text: string;
  readonly createdAt: number;
}

export class Discussion {
  readonly #reactions: Reactions;
  readonly #replies: Table<ChannelReply>;
  readonly #moderation: Table<ModerationStatus | "deleted">;

  constructor(store: Store, reactions: Reactions) {
    this.#reactions = reactions;
    this.#replies = store.table<ChannelReply>("youtube.replies");
    this.#moderation = store.table<ModerationStatus | "deleted">("youtube.moderation");
  }

  comment(id: string): Comment | undefined {
    return this.#moderation.get(id) === "deleted"
      ? undefined
      : this.#reactions.comment("youtube", id);
  }

  commentsOn(videoId: string): Comment[] {
    return this.#reactions
      .commentsOn("youtube", videoId)
      .filter(({ id }) => this.#moderation.get(id) !== "deleted")
      .toSorted((one, other) => other.createdAt - one.createdAt);
  }

  statusOf(id: string): ModerationStatus {
    const status = this.#moderation.get(id);
    return status === undefined || status === "deleted" ? "published" : status;
  }

  moderate(id: string, status: ModerationStatus): void {
    this.#moderation.put(id, status);
  }

  delete(id: string): boolean {
    if (this.#replies.delete(id)) return true;
    const exists = this.comment(id) !== undefined;
    if (exists) this.#moderation.put(id, "deleted");
    return exists;
  }

  reply(id: string): ChannelReply | undefined {
    return this.#replies.get(id);
  }

  addReply(reply: ChannelReply): ChannelReply {
    this.#replies.put(reply.id, reply);
    return reply;
  }

  repliesTo(parentId: string): ChannelReply[] {
    return [...this.#replies.values()].filter((reply) => reply.parentId === parentId);
  }
}
