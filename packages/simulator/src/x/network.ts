import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { World } from "#src/world/world.ts";
import { Duplicates } from "#src/x/duplicates.ts";
import { Tokens } from "#src/x/tokens.ts";

/** What X keeps besides the shared world. */
export interface XNetwork {
  readonly world: World;
  readonly tokens: Tokens;
  readonly duplicates: Duplicates;
  /** Replies that were hidden, by the comment's id. */
  readonly hidden: Table<boolean>;
}

export function createNetwork(world: World): XNetwork {
  const store: Store = world.store;
  return {
    world,
    tokens: new Tokens(store, world.secrets),
    duplicates: new Duplicates(world.posts, store),
    hidden: store.table<boolean>("x.hidden"),
  };
}
