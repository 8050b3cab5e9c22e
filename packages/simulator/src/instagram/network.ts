import type { GraphHost } from "#src/graph/host.ts";
import { PrivateReplies } from "#src/graph/private-replies.ts";
import { Uploads } from "#src/graph/rupload.ts";
import { GraphTokens } from "#src/graph/tokens.ts";
import { Containers } from "#src/instagram/containers.ts";
import { PostDetails } from "#src/instagram/post-details.ts";
import type { Table } from "#src/store/table.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export interface Ownership {
  readonly pageId: string;
  readonly pageName: string;
  readonly userId: string;
}

export interface InstagramNetwork extends GraphHost {
  readonly uploads: Uploads;
  readonly containers: Containers;
  readonly details: PostDetails;
  /** Like accounts, these rows survive a reset of the simulator. */
  readonly ownerships: Table<Ownership>;
  readonly hidden: Table<boolean>;
  readonly privateReplies: PrivateReplies;
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
    privateReplies: new PrivateReplies(store, "instagram"),
  };
}

export function findPost({ world, details }: InstagramNetwork, account: Account, id: string) {
  const post = world.posts.get(account, id);
  const detail = details.find(id);
  return post === undefined || detail === undefined ? undefined : { post, detail };
}
