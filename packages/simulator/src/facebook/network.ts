import type { GraphHost } from "#src/graph/host.ts";
import { PrivateReplies } from "#src/graph/private-replies.ts";
import { Uploads } from "#src/graph/rupload.ts";
import { GraphTokens } from "#src/graph/tokens.ts";
import type { Table } from "#src/store/table.ts";
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

export interface FacebookNetwork extends GraphHost {
  readonly posts: Table<FacebookPost>;
  readonly photos: Table<FacebookPhoto>;
  readonly videos: Table<FacebookVideo>;
  readonly sessions: Table<string>;
  readonly uploads: Uploads;
  readonly hidden: Table<boolean>;
  readonly privateReplies: PrivateReplies;
}

export function createNetwork(world: World): FacebookNetwork {
  const { store } = world;
  const tokens = new GraphTokens(store, world.secrets, "facebook");
  const host: GraphHost = { platform: "facebook", world, tokens };
  return {
    ...host,
    posts: store.table<FacebookPost>("facebook.posts"),
    photos: store.table<FacebookPhoto>("facebook.photos"),
    videos: store.table<FacebookVideo>("facebook.videos"),
    sessions: store.table<string>("facebook.sessions"),
    uploads: new Uploads(host),
    hidden: store.table<boolean>("facebook.hidden"),
    privateReplies: new PrivateReplies(store, "facebook"),
  };
}

export function existsAt(
  object: { readonly createdAt: number; readonly deletedAt: number | null },
  asOf: number,
): boolean {
  return object.createdAt <= asOf && (object.deletedAt === null || object.deletedAt > asOf);
}
