import { Blobs } from "#src/bluesky/blobs.ts";
import { Records } from "#src/bluesky/records.ts";
import { ServiceTokens } from "#src/bluesky/service-tokens.ts";
import { Sessions } from "#src/bluesky/sessions.ts";
import { Tids } from "#src/bluesky/tid.ts";
import { VideoJobs } from "#src/bluesky/video-jobs.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export interface BlueskyNetwork {
  readonly world: World;
  readonly sessions: Sessions;
  readonly serviceTokens: ServiceTokens;
  readonly records: Records;
  readonly blobs: Blobs;
  readonly videoJobs: VideoJobs;
  readonly tids: Tids;
}

export function createNetwork(world: World): BlueskyNetwork {
  return {
    world,
    sessions: new Sessions(world.store, world.secrets),
    serviceTokens: new ServiceTokens(world.store, world.secrets),
    records: new Records(world.store),
    blobs: new Blobs(world.store),
    videoJobs: new VideoJobs(world.store),
    tids: new Tids(),
  };
}

export function findActor({ world }: BlueskyNetwork, identifier: string): Account | undefined {
  return world.accounts.find("bluesky", identifier.replace(/^@/, ""));
}
