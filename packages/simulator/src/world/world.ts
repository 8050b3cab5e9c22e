import { Faults } from "#src/faults/faults.ts";
import { Pieces } from "#src/store/pieces.ts";
import { Store } from "#src/store/store.ts";
import { Accounts } from "#src/world/accounts.ts";
import { Clock } from "#src/world/clock.ts";
import { Limits } from "#src/world/limits.ts";
import { Posts } from "#src/world/posts.ts";
import { Reactions } from "#src/world/reactions.ts";
import { ReaderFiles } from "#src/world/reader-files.ts";
import { RequestLog } from "#src/world/request-log.ts";
import { Secrets } from "#src/world/secrets.ts";
import { Settings } from "#src/world/settings.ts";
import { Snowflakes } from "#src/world/snowflake.ts";

export interface World {
  readonly store: Store;
  readonly pieces: Pieces;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly limits: Limits;
  readonly accounts: Accounts;
  readonly posts: Posts;
  readonly files: ReaderFiles;
  readonly reactions: Reactions;
  readonly secrets: Secrets;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly snowflakes: Snowflakes;
}

export function createWorld(dataDir?: string, machineTime = Date.now): World {
  const store = new Store(dataDir);
  const pieces = new Pieces(dataDir);
  store.onReset(() => pieces.dropAll());
  const settings = new Settings(store);
  const files = new ReaderFiles();
  store.onReset(() => files.clear());
  return {
    store,
    pieces,
    clock: new Clock(store, machineTime),
    settings,
    limits: new Limits(store, settings),
    accounts: new Accounts(store),
    posts: new Posts(store),
    files,
    reactions: new Reactions(store),
    secrets: new Secrets(store),
    faults: new Faults(store),
    log: new RequestLog(),
    snowflakes: new Snowflakes(),
  };
}
