import { createHost } from "#src/graph/host.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { World } from "#src/world/world.ts";

/** Readers see the post from `publishedAt` on. */
export interface FacebookPost {
  /** Id of the Facebook post, in the form `<page>_<number>`. */
  readonly id: string;
  readonly page: string;
  readonly message: string;
  readonly link: string;
  readonly photos: readonly string[];
  readonly createdAt: number;
  readonly publishedAt: number | null;
  readonly deletedAt: number | null;
}

/** At most one post shows the photo. */
export interface FacebookPhoto {
  readonly id: string;
  readonly page: string;
  readonly caption: string;
  readonly altText: string;
  readonly received: ReceivedMedia;
  readonly createdAt: number;
  readonly deletedAt: number | null;
  readonly post: string | null;
}

export interface FacebookVideo {
  readonly id: string;
  readonly page: string;
  readonly kind: "video" | "reel";
  readonly fileSize: number;
  readonly title: string;
  readonly description: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly publishedAt: number | null;
  readonly deletedAt: number | null;
}

export type FacebookNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  const { store } = world;
  return {
    ...createHost(world, "facebook"),
    posts: store.table<FacebookPost>("facebook.posts"),
    photos: store.table<FacebookPhoto>("facebook.photos"),
    videos: store.table<FacebookVideo>("facebook.videos"),
    /** The id of the video that each upload session uploads. */
    sessions: store.table<string>("facebook.sessions"),
  };
}
