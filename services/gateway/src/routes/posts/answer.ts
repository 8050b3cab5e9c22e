import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyReply } from "fastify";
import type { MediaLinks } from "#src/routes/media/links.ts";
import { toETag, toPostDetail } from "#src/routes/posts/mapping.ts";

/** Header of every answer that shows one post. */
export const ETAG = {
  ETag: { type: "string", description: "Changes with every visible change of the post." },
};

/** The whole post with its ETag; its media get addresses that are good from now on. An answer of ours without its post is a bug of the service, not of the caller. */
export function sendPost(reply: FastifyReply, post: Post | undefined, links: MediaLinks) {
  if (post === undefined) throw new ServiceError("internal", "internal");
  return reply.header("etag", toETag(post)).send(toPostDetail(post, links, reply.request.locale));
}
