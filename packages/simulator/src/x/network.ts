import { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { World } from "#src/world/world.ts";
import { MediaStore } from "#src/x/media.ts";
import { Tokens } from "#src/x/tokens.ts";
import { TweetIndex } from "#src/x/tweet-index.ts";

export interface XNetwork {
  readonly world: World;
  readonly tokens: Tokens;
  readonly codes: AuthorizationCodes;
  readonly tweets: TweetIndex;
  readonly media: MediaStore;
  readonly hidden: Table<boolean>;
}

const CODE_LIFETIME_MS = 30_000;

export function createNetwork(world: World): XNetwork {
  const store: Store = world.store;
  return {
    world,
    tokens: new Tokens(store, world.secrets),
    codes: new AuthorizationCodes(store, world.secrets, "x", CODE_LIFETIME_MS),
    tweets: new TweetIndex(world.posts, world.accounts, store),
    media: new MediaStore(store),
    hidden: store.table<boolean>("x.hidden"),
  };
}
