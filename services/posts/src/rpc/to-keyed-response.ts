import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { PostSchema, type Post } from "@postrider/contracts/posts/v1/post_pb";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import type { ISql } from "@postrider/shared/postgres";
import {
  findReplay,
  keyInProgress,
  type KeyedRequest,
} from "@postrider/shared/postgres/idempotency";
import { findAnsweredContent } from "#src/db/answered-content.ts";
import type { KeyedResponse } from "#src/db/new-post.ts";
import { toOptions } from "#src/rpc/to-post.ts";

/** A larger response refers to its post. Database triggers keep what the post loses. */
const MIN_REFERRING_BYTES = 4_096;

/** No message begins with it: a process of an earlier version fails to read such a response. */
const REFERRING = 0;

/** Later repetitions get it also after the post was changed or deleted. */
export function toKeyedResponse(answer: Post): KeyedResponse {
  const whole = toBinary(PostSchema, answer);
  if (whole.length < MIN_REFERRING_BYTES) return { response: whole, answeredPostId: null };
  const referring = toReferring(answer);
  const refers = whole.length - referring.length >= MIN_REFERRING_BYTES;
  return refers
    ? { response: referring, answeredPostId: answer.id }
    : { response: whole, answeredPostId: null };
}

/**
 * The workspace is the caller's, whatever the stored message says: an imported one may name another
 * workspace, for which the gateway would sign URLs of media.
 */
export async function findAcceptedPost(sql: ISql, keyed: KeyedRequest): Promise<Post | undefined> {
  const response = await findReplay(sql, keyed);
  if (response === undefined) return undefined;
  const post = await readResponse(sql, keyed, response);
  return { ...post, workspaceId: keyed.workspaceId };
}

function toReferring(answer: Post): Uint8Array {
  const rest = withContent(answer, { content: "", options: {} });
  return Buffer.concat([Uint8Array.of(REFERRING), toBinary(PostSchema, rest)]);
}

async function readResponse(sql: ISql, keyed: KeyedRequest, response: Uint8Array): Promise<Post> {
  if (response[0] !== REFERRING) return fromBinary(PostSchema, response);
  const found = await findAnsweredContent(sql, keyed);
  if (found === undefined) throw keyInProgress();
  const { content, options } = found;
  const post = fromBinary(PostSchema, response.subarray(1));
  return withContent(post, { content, options: toOptions(options) });
}

function withContent(post: Post, content: Pick<PostDetailJson, "content" | "options">): Post {
  const detail = JSON.parse(post.json) as PostDetailJson;
  return { ...post, json: JSON.stringify({ ...detail, ...content }) };
}
