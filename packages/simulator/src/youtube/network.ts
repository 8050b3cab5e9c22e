import type { Call, Moment, Reply } from "#src/http/call.ts";
import { OAuthTokens } from "#src/oauth/tokens.ts";
import type { Endpoint } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";
import { refuse } from "#src/youtube/errors.ts";
import { type Cost, spendQuota } from "#src/youtube/quota.ts";
import { Uploads } from "#src/youtube/uploads.ts";
import { Discussion, Playlists, Videos } from "#src/youtube/videos.ts";

export type YoutubeNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  const { store, pieces, posts, reactions, secrets } = world;
  return {
    world,
    tokens: new OAuthTokens(world, "youtube", {
      codeLifetimeMs: 600_000,
      accessPrefix: "ya29.",
      refreshPrefix: "1//0",
      characters: 100,
      accessLifetimeMs: 3_600_000,
      refreshLifetimeMs: null,
      rotates: false,
      revokes: "account",
    }),
    uploads: new Uploads(store, pieces, secrets),
    videos: new Videos(store, posts),
    discussion: new Discussion(store, reactions),
    playlists: new Playlists(store),
  };
}

export interface YoutubeCall extends Moment {
  readonly call: Call;
  readonly channel: Account;
}

export interface YoutubeEndpoint extends Endpoint<YoutubeNetwork, YoutubeCall> {
  /** The access token must have at least one of them. */
  readonly scopes: readonly string[];
  readonly cost: Cost;
  readonly parameters: readonly string[];
}

/** Query parameters that every Google API accepts. */
const COMMON_PARAMETERS = ["alt", "key", "prettyPrint", "quotaUser"];

function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys())
    if (!known.includes(name) && !COMMON_PARAMETERS.includes(name)) {
      const message = `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter.`;
      refuse(400, "badRequest", { message });
    }
}

export function serve(
  network: YoutubeNetwork,
  endpoint: YoutubeEndpoint,
  call: Call,
  moment: Moment,
): Reply {
  const { account: channel, scopes } =
    network.tokens.accessOf(call, moment.now) ??
    refuse(401, "authError", { location: "Authorization" });
  if (!endpoint.scopes.some((scope) => scopes.includes(scope))) {
    const message = "Request had insufficient authentication scopes.";
    refuse(403, "insufficientPermissions", { message });
  }
  checkParameters(call.query, endpoint.parameters);
  spendQuota(network.world, endpoint.cost, moment.now);
  return endpoint.handle(network, { call, channel, ...moment });
}
