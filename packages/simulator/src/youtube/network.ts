import { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { World } from "#src/world/world.ts";
import { Discussion } from "#src/youtube/discussion.ts";
import { Playlists } from "#src/youtube/playlists.ts";
import { Tokens } from "#src/youtube/tokens.ts";
import { Uploads } from "#src/youtube/uploads.ts";
import { Videos } from "#src/youtube/videos.ts";

export interface YoutubeNetwork {
  readonly world: World;
  readonly tokens: Tokens;
  readonly codes: AuthorizationCodes;
  readonly uploads: Uploads;
  readonly videos: Videos;
  readonly discussion: Discussion;
  readonly playlists: Playlists;
}

const CODE_LIFETIME_MS = 600_000;

export function createNetwork(world: World): YoutubeNetwork {
  const { store, pieces, posts, reactions, secrets } = world;
  return {
    world,
    tokens: new Tokens(store, secrets),
    codes: new AuthorizationCodes(store, secrets, "youtube", CODE_LIFETIME_MS),
    uploads: new Uploads(store, pieces, secrets),
    videos: new Videos(store, posts),
    discussion: new Discussion(store, reactions),
    playlists: new Playlists(store),
  };
}
