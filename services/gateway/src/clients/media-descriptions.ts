import { createHash } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";

interface DescribedPost {
  readonly post: Post;
  /** Set if they were changed after the post was accepted. */
  readonly descriptionsHash: string | undefined;
}

/** After this wait, a post is shown with the descriptions with which it was accepted. */
const TIMEOUT_MS = 1_000;
/** Enough that two descriptions of a post never share a hash by chance. */
const HASH_BYTES = 8;

/** Platforms receive the current ones. Without an answer, the accepted ones are shown. */
export async function withCurrentDescriptions(
  client: Pick<Client<typeof MediaService>, "batchGetMedia">,
  post: Post,
): Promise<DescribedPost> {
  if (post.media.length === 0) return { post, descriptionsHash: undefined };
  const request = { workspaceId: post.workspaceId, ids: post.media.map(({ id }) => id) };
  const answer = await client
    .batchGetMedia(request, { timeoutMs: TIMEOUT_MS })
    .catch(() => ({ media: [] }));
  const current = new Map(answer.media.map((each) => [each.id, each]));
  const media = post.media.map((accepted) => describe(accepted, current.get(accepted.id)));
  const [before, after] = [hashDescriptions(post.media), hashDescriptions(media)];
  return { post: { ...post, media }, descriptionsHash: before === after ? undefined : after };
}

function describe(media: Media, current: Media | undefined): Media {
  if (current === undefined) return media;
  const { altText: _altText, coverMs: _coverMs, ...rest } = media;
  return {
    ...rest,
    ...(current.altText === undefined ? {} : { altText: current.altText }),
    ...(current.coverMs === undefined ? {} : { coverMs: current.coverMs }),
  };
}

function hashDescriptions(media: readonly Media[]): string {
  const descriptions = media.map(({ altText, coverMs }) => [
    altText ?? null,
    coverMs?.toString() ?? null,
  ]);
  const digest = createHash("sha256").update(JSON.stringify(descriptions)).digest();
  return digest.subarray(0, HASH_BYTES).toString("base64url");
}
