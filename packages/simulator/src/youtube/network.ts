import type { World } from "#src/world/world.ts";
import { Discussion } from "#src/youtube/discussion.ts";
import { Tokens } from "#src/youtube/tokens.ts";
import { Uploads } from "#src/youtube/uploads.ts";
import { Videos } from "#src/youtube/videos.ts";

/** What YouTube keeps besides the shared world. */
export interface YoutubeNetwork {
  readonly world: World;
  readonly tokens: Tokens;
  readonly uploads: Uploads;
  readonly videos: Videos;
  readonly discussion: Discussion;
}

export function createNetwork(world: World): YoutubeNetwork {
  const { store, pieces, posts, reactions, secrets } = world;
  return {
    world,
    tokens: new Tokens(store, secrets),
    uploads: new Uploads(store, pieces, secrets),
    videos: new Videos(store, posts),
    discussion: new Discussion(store, reactions),
  };
}
