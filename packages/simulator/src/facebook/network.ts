import type { GraphHost } from "#src/graph/host.ts";
import { Uploads } from "#src/graph/rupload.ts";
import { GraphTokens } from "#src/graph/tokens.ts";
import type { Table } from "#src/store/table.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { World } from "#src/world/world.ts";

/** A Page's post; readers see it from `publishedAt` on. Times are platform time, Unix milliseconds. */
export interface FacebookPost {
  /** `<page>_<number>`. */
  readonly id: string;
  readonly page: string;
  readonly message: string;
  readonly link: string;
  /** Ids of its photos, in order. */
  readonly photos: readonly string[];
  readonly createdAt: number;
  readonly publishedAt: number | null;
  readonly deletedAt: number | null;
}

/** A photo of a Page, which one post at most shows. */
export interface FacebookPhoto {
  readonly id: string;
  readonly page: string;
  readonly caption: string;
  readonly received: ReceivedMedia;
  readonly createdAt: number;
  readonly deletedAt: number | null;
  /** The post that shows it. */
  readonly post: string | null;
}

/** A video or a reel, from the beginning of its upload on. */
export interface FacebookVideo {
  readonly id: string;
  readonly page: string;
  readonly kind: "video" | "reel";
  readonly fileSize: number;
  readonly title: string;
  readonly description: string;
  readonly createdAt: number;
  /** When the upload of a video was ended, or a reel was asked to be published. */
  readonly finishedAt: number | null;
  readonly publishedAt: number | null;
  readonly deletedAt: number | null;
}

/** What Facebook keeps besides the shared world. */
export interface FacebookNetwork extends GraphHost {
  readonly posts: Table<FacebookPost>;
  readonly photos: Table<FacebookPhoto>;
  readonly videos: Table<FacebookVideo>;
  /** The video of each upload session. */
  readonly sessions: Table<string>;
  readonly uploads: Uploads;
  /** Comments that the Page hid, by id. */
  readonly hidden: Table<boolean>;
  /** Comments that were answered privately, by id: once each. */
  readonly answered: Table<string>;
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
    answered: store.table<string>("facebook.answered"),
  };
}

/** Whether somebody who reads at that instant finds the object. */
export function isThere(
  object: { readonly createdAt: number; readonly deletedAt: number | null },
  asOf: number,
): boolean {
  return object.createdAt <= asOf && (object.deletedAt === null || object.deletedAt > asOf);
}
