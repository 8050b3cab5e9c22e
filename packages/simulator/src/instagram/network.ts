import type { GraphHost } from "#src/graph/host.ts";
import { Uploads } from "#src/graph/rupload.ts";
import { GraphTokens } from "#src/graph/tokens.ts";
import { Containers } from "#src/instagram/containers.ts";
import { PostDetails } from "#src/instagram/post-details.ts";
import type { Table } from "#src/store/table.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

/** The Page and the person behind a professional account. */
export interface Ownership {
  readonly pageId: string;
  readonly pageName: string;
  readonly userId: string;
}

/** What Instagram keeps besides the shared world. */
export interface InstagramNetwork extends GraphHost {
  readonly uploads: Uploads;
  readonly containers: Containers;
  readonly details: PostDetails;
  /** By the account's external id; kept on reset, as accounts are. */
  readonly ownerships: Table<Ownership>;
  /** Comments that were hidden, by their id. */
  readonly hidden: Table<boolean>;
  /** Own replies to comments, by their id. */
  readonly replies: Table<OwnReply>;
  /** Comments that were answered with a private message. */
  readonly privateReplies: Table<string>;
}

/** What the account itself wrote below a comment. */
export interface OwnReply {
  readonly id: string;
  readonly parent: string;
  readonly text: string;
  readonly createdAt: number;
}

export function createNetwork(world: World): InstagramNetwork {
  const { store } = world;
  const host: GraphHost = {
    platform: "instagram",
    world,
    tokens: new GraphTokens(store, world.secrets, "instagram"),
  };
  const uploads = new Uploads(host);
  return {
    ...host,
    uploads,
    containers: new Containers(store, uploads),
    details: new PostDetails(store),
    ownerships: store.table<Ownership>("instagram.ownerships", { keptOnReset: true }),
    hidden: store.table<boolean>("instagram.hidden"),
    replies: store.table<OwnReply>("instagram.replies"),
    privateReplies: store.table<string>("instagram.private_replies"),
  };
}

/** The post with this id, of whatever account; a deleted one too. */
export function findPost({ world, details }: InstagramNetwork, account: Account, id: string) {
  const post = world.posts.get(account, id);
  const detail = details.find(id);
  return post === undefined || detail === undefined ? undefined : { post, detail };
}
