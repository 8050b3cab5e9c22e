import type { GraphHost } from "#src/graph/host.ts";
import { PrivateReplies } from "#src/graph/private-replies.ts";
import { Uploads } from "#src/graph/rupload.ts";
import { GraphTokens } from "#src/graph/tokens.ts";
import type { Table } from "#src/store/table.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { World } from "#src/world/world.ts";

/**
 * A post of a Facebook Page. Readers see the post from `publishedAt` on. Times are in Unix milliseconds of the
 * simulator's clock.
 */
export interface FacebookPost {
  /** Id of the Facebook post, in the form `<page>_<number>`. */
  readonly id: string;
  readonly page: string;
  readonly message: string;
  readonly link: string;
  /** Ids of the Facebook post's photos, in display order. */
  readonly photos: readonly string[];
  readonly createdAt: number;
  readonly publishedAt: number | null;
  readonly deletedAt: number | null;
}

/** A photo of a Facebook Page. At most one post shows the photo. */
export interface FacebookPhoto {
  readonly id: string;
  readonly page: string;
  readonly caption: string;
  /** Alternative text of the photo; empty when there is none. */
  readonly altText: string;
  readonly received: ReceivedMedia;
  readonly createdAt: number;
  readonly deletedAt: number | null;
  /** Id of the Facebook post that shows the photo; null when no post shows the photo. */
  readonly post: string | null;
}

/** A Facebook video or reel, stored from the beginning of its upload. */
export interface FacebookVideo {
  readonly id: string;
  readonly page: string;
  readonly kind: "video" | "reel";
  readonly fileSize: number;
  readonly title: string;
  readonly description: string;
  readonly createdAt: number;
  /**
   * When the client finished the upload of the Facebook video; null while the upload is not
   * finished.
   */
  readonly finishedAt: number | null;
  readonly publishedAt: number | null;
  readonly deletedAt: number | null;
}

/** State of the simulated Facebook in addition to the state that all platforms share. */
export interface FacebookNetwork extends GraphHost {
  readonly posts: Table<FacebookPost>;
  readonly photos: Table<FacebookPhoto>;
  readonly videos: Table<FacebookVideo>;
  /** Maps the id of each upload session to the id of the Facebook video that is uploaded. */
  readonly sessions: Table<string>;
  readonly uploads: Uploads;
  /** Maps the id of a Facebook comment to whether the Page has hidden it. */
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

/** Whether a Facebook post, photo or video exists at the instant `asOf`. */
export function existsAt(
  object: { readonly createdAt: number; readonly deletedAt: number | null },
  asOf: number,
): boolean {
  return object.createdAt <= asOf && (object.deletedAt === null || object.deletedAt > asOf);
}
