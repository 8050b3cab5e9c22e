import type { ISql } from "@postrider/shared/postgres";
import type { KeyedRequest } from "@postrider/shared/postgres/idempotency";
import type { PostOptions } from "#src/domain/post.ts";

/** The part of a post that a stored response does not repeat. */
export interface AnsweredContent {
  readonly content: string;
  readonly options: PostOptions;
}

/**
 * Undefined if the key has expired. One statement reads key and post: the content is in the post
 * until the transaction commits that moves it to the key.
 */
export async function findAnsweredContent(
  sql: ISql,
  { workspaceId, operation, key }: KeyedRequest,
): Promise<AnsweredContent | undefined> {
  const [row] = await sql<AnsweredContent[]>`
    select
      case when answered.content is null then post.content else answered.content end as content,
      case when answered.content is null then post.options else answered.options end as options
    from idempotency_keys as answered
    left join posts as post on post.id = answered.post_id
      and post.workspace_id = answered.workspace_id
    where answered.workspace_id = ${workspaceId}
    and answered.operation = ${operation}
    and answered.key = ${key}
    and (answered.content is not null or post.id is not null)`;
  return row;
}
