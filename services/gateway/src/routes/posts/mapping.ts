import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type { ValidatePostResponse } from "@postrider/contracts/posts/v1/post_service_pb";
import type { MediaLinks } from "@postrider/rest/media/links";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyReply } from "fastify";

/** The JSON of the posts service, with newly signed URLs of the media. */
export function toPostJson({ json, media, workspaceId }: Post, links: MediaLinks): string {
  if (media.length === 0) return json;
  const post = JSON.parse(json) as PostDetailJson;
  const shown = media.map((each) => toReadyMedia(workspaceId, each, links));
  return JSON.stringify({ ...post, media: shown });
}

/**
 * Returns the ETag of a post, which changes with every visible change of the post.
 *
 * @param descriptionsHash Hash of the descriptions of its media, if they were changed after the
 *   post was accepted.
 */
export function toETag({ version }: Pick<Post, "version">, descriptionsHash?: string): string {
  return descriptionsHash === undefined ? `"${version}"` : `"${version}.${descriptionsHash}"`;
}

export function toValidPost({ scheduledAt, targets }: ValidatePostResponse) {
  return {
    valid: true as const,
    scheduledAt: toOptionalInstant(scheduledAt),
    targets: targets.map(({ accountId, platform }) => ({ accountId, platform })),
  };
}

/** Sends JSON that is finished; an object would be written by the schema of the answer. */
export function sendJson(reply: FastifyReply, json: string) {
  return reply.type("application/json; charset=utf-8").send(json);
}

/** Sends the whole post with its ETag and with newly signed URLs of its media. */
export function sendPost(
  reply: FastifyReply,
  post: Post | undefined,
  links: MediaLinks,
  descriptionsHash?: string,
) {
  // An answer of the posts service without a post is an error of that service, not of the client.
  if (post === undefined) throw new ServiceError("internal", "internal");
  reply.header("etag", toETag(post, descriptionsHash));
  return sendJson(reply, toPostJson(post, links));
}
