import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";

/** How long a read of a post waits for the media service, in milliseconds. */
const TIMEOUT_MS = 1_000;

/**
 * Returns a post whose media have their current description and cover, which can change after the post was accepted: platforms
 * receive the current ones. If the media service does not answer, the post has those that it was accepted with.
 */
export async function withCurrentDescriptions(
  client: Pick<Client<typeof MediaService>, "batchGetMedia">,
  post: Post,
): Promise<Post> {
  if (post.media.length === 0) return post;
  const request = { workspaceId: post.workspaceId, ids: post.media.map(({ id }) => id) };
  const answer = await client
    .batchGetMedia(request, { timeoutMs: TIMEOUT_MS })
    .catch(() => ({ media: [] }));
  const current = new Map(answer.media.map((media) => [media.id, media]));
  return { ...post, media: post.media.map((media) => describe(media, current.get(media.id))) };
}

function describe(media: Media, current: Media | undefined): Media {
  if (current === undefined) return media;
  const { altText: _, coverMs: __, ...rest } = media;
  return {
    ...rest,
    ...(current.altText === undefined ? {} : { altText: current.altText }),
    ...(current.coverMs === undefined ? {} : { coverMs: current.coverMs }),
  };
}
