import { randomBytes } from "node:crypto";
import { createHost } from "#src/graph/host.ts";
import { type ContainerKind, Containers } from "#src/instagram/containers.ts";
import type { Store, Table } from "#src/store/store.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export interface PostDetail {
  /** Cannot be derived from the post's id. */
  readonly shortcode: string;
  readonly mediaType: "IMAGE" | "VIDEO" | "CAROUSEL_ALBUM";
  readonly productType: "FEED" | "REELS";
}

const TYPES: Readonly<Record<ContainerKind, Omit<PostDetail, "shortcode">>> = {
  image: { mediaType: "IMAGE", productType: "FEED" },
  reel: { mediaType: "VIDEO", productType: "REELS" },
  carousel: { mediaType: "CAROUSEL_ALBUM", productType: "FEED" },
};

const SHORTCODE_LENGTH = 11;

class PostDetails {
  readonly #rows: Table<PostDetail>;

  constructor(store: Store) {
    this.#rows = store.table<PostDetail>("instagram.posts");
  }

  add(id: string, kind: ContainerKind): void {
    const shortcode = randomBytes(SHORTCODE_LENGTH)
      .toString("base64url")
      .slice(0, SHORTCODE_LENGTH);
    this.#rows.put(id, { shortcode, ...TYPES[kind] });
  }

  find(id: string): PostDetail | undefined {
    return this.#rows.get(id);
  }
}

export function permalinkOf({ shortcode, productType }: PostDetail): string {
  const folder = productType === "REELS" ? "reel" : "p";
  return `https://www.instagram.com/${folder}/${shortcode}/`;
}

interface Ownership {
  readonly pageId: string;
  readonly pageName: string;
  readonly userId: string;
}

export type InstagramNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  const host = createHost(world, "instagram");
  const { store } = world;
  return {
    ...host,
    containers: new Containers(store, host.uploads),
    details: new PostDetails(store),
    /** Like accounts, these rows survive a reset of the simulator. */
    ownerships: store.table<Ownership>("instagram.ownerships", { keptOnReset: true }),
  };
}

export function findPost({ world, details }: InstagramNetwork, account: Account, id: string) {
  const post = world.posts.get(account, id);
  const detail = details.find(id);
  return post === undefined || detail === undefined ? undefined : { post, detail };
}
