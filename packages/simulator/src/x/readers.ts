import { createHash } from "node:crypto";
import type { Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

/**
 * A numeric X user id derived from the reader's name, because readers have no accounts in the
 * simulator.
 */
function readerId(author: string): string {
  return BigInt(`0x${createHash("sha256").update(author).digest("hex").slice(0, 15)}`).toString();
}

/** A reader's comment on X, as the X API returns it: in the form of a tweet. */
export function commentPost(comment: Comment): Post {
  return {
    platform: "x",
    account: readerId(comment.author),
    id: comment.id,
    text: comment.text,
    media: [],
    createdAt: comment.createdAt,
    deletedAt: null,
    createCalls: 1,
    replyTo: comment.mediaId,
  };
}
