import { randomBytes } from "node:crypto";
import type { ContainerKind } from "#src/instagram/containers.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

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

export class PostDetails {
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
