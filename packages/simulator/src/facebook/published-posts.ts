import { checkPage } from "#src/facebook/feed.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import { postView, videoPostView } from "#src/facebook/views.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { pageOf, PAGING } from "#src/graph/paging.ts";
import { type GraphParameters, pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import { existsAt, type Post } from "#src/world/posts.ts";

function secondsOf(parameters: GraphParameters, name: string, otherwise: number): number {
  return parameters.has(name) ? parameters.number(name) * 1000 : otherwise;
}

function* visiblePosts(
  network: FacebookNetwork,
  { account, parameters, asOf }: GraphCall,
): Generator<Post> {
  const since = secondsOf(parameters, "since", 0);
  const until = secondsOf(parameters, "until", Number.MAX_SAFE_INTEGER);
  for (const post of network.world.posts.newestFirst(account))
    if (existsAt(post, asOf) && post.createdAt >= since && post.createdAt < until) yield post;
}

function viewOf(
  network: FacebookNetwork,
  { id }: Post,
  asOf: number,
): Readonly<Record<string, unknown>> {
  const post = network.posts.get(id);
  const video = network.videos.get(id);
  if (post !== undefined) return postView(network, post, asOf);
  return video === undefined ? { id } : videoPostView(network, video, asOf);
}

export function listPublishedPosts(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, asOf } = graphCall;
  checkPage(graphCall);
  parameters.checkNames(["since", "until", ...PAGING]);
  const { items, paging } = pageOf(visiblePosts(network, graphCall), graphCall);
  const data = items.map((post) =>
    pickFields(parameters, viewOf(network, post, asOf), ["created_time", "message"]),
  );
  return { status: 200, body: { data, ...paging } };
}
