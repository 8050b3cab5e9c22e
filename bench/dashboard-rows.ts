import { createClient } from "@postrider/client";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import type { LocalStack } from "@postrider/local/stack/local-file";
import type postgres from "postgres";

const PICTURES = 100;
const COMMENTS = 2_000;
/** Of the reader, whose month the posts are in. */
export const TIME_ZONE = "Asia/Seoul";

/**
 * Fills the workspace of a stack with posts on one to five of its accounts, pictures and comments.
 * `inMonth` posts lie in the current month, as many in the next one, and the others before. Those
 * of the future are scheduled; one of twenty of the others failed on one account.
 */
export async function fillWorkspace(
  local: LocalStack,
  sql: postgres.Sql,
  { posts, inMonth }: { readonly posts: number; readonly inMonth: number },
): Promise<void> {
  const pictures = await uploadPictures(local);
  await insertPosts(local, sql, { posts, inMonth, pictures });
  await insertTargets(local, sql);
  await insertComments(local, sql);
  for (const table of ["posts.posts", "posts.targets", "delivery.inbox_comments"])
    await sql.unsafe(`vacuum analyze ${table}`);
}

async function uploadPictures(local: LocalStack): Promise<readonly string[]> {
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey });
  const ids: string[] = [];
  for (let side = 400; side < 400 + PICTURES; side += 1) {
    const picture = sampleJpeg({ width: side, height: side });
    ids.push((await client.uploadFile(picture, { fileName: `picture-${side}.jpg` })).id);
  }
  return ids;
}

interface Rows {
  readonly posts: number;
  readonly inMonth: number;
  readonly pictures: readonly string[];
}

async function insertPosts(local: LocalStack, sql: postgres.Sql, rows: Rows): Promise<void> {
  const { posts, inMonth, pictures } = rows;
  await sql`
    insert into posts.posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
      created_at, started_at, updated_at, platforms)
    select gen_random_uuid(), ${local.workspaceId},
      case when at > now() + interval '2 hours' then 'scheduled' when n % 20 = 0 then 'partial' else 'published' end,
      'Post ' || n || ' of the benchmark. ' || repeat('Apples, pears and cider from our orchard. ', n % 7), '{}',
      case when n % 4 = 0 then array[(${pictures as string[]}::uuid[])[n % ${PICTURES}::int + 1]] else '{}' end, '[]',
      at, case when n % 3 = 0 then 'dashboard' else 'rest' end, at - interval '9 days',
      case when at <= now() + interval '2 hours' then at end, now(), '{}'
    from (
      select n, (date_trunc('month', now() at time zone ${TIME_ZONE}) + interval '1 month') at time zone ${TIME_ZONE} +
        (${inMonth}::int - n) * interval '29 days' / ${inMonth}::int as at
      from generate_series(1, ${posts}::int) as n
    ) as placed`;
}

async function insertTargets(local: LocalStack, sql: postgres.Sql): Promise<void> {
  const accounts = local.accounts.map(({ id, platform }, ordinal) => ({ id, platform, ordinal }));
  await sql`
    insert into posts.targets (id, workspace_id, post_id, ordinal, account_id, platform, username, status, generation,
      due_at, publish_before, due_day, last_report_at, error_code, error_message, error_retryable, updated_at)
    select gen_random_uuid(), workspace_id, post.id, ordinal, account.id, platform, 'bench',
      case when post.status = 'scheduled' then 'pending' when is_failed then 'failed' else 'published' end, 1,
      scheduled_at, scheduled_at + interval '1 day', to_char(scheduled_at at time zone 'utc', 'YYYY-MM-DD'),
      scheduled_at, case when is_failed then 'account_reconnect_required' end,
      case when is_failed then 'The access has ended.' end, case when is_failed then false end, now()
    from posts.posts as post
    cross join lateral (
      select *, ordinal = 0 and post.status = 'partial' as is_failed
      from jsonb_to_recordset(${sql.json(accounts)}) as known (id uuid, platform text, ordinal int)
      where ordinal <= length(post.content) % 5
    ) as account
    where workspace_id = ${local.workspaceId}`;
  await sql`
    update posts.posts as post
    set platforms = (select array_agg(platform) from posts.targets where post_id = post.id)
    where workspace_id = ${local.workspaceId}`;
}

async function insertComments(local: LocalStack, sql: postgres.Sql): Promise<void> {
  const account = local.accounts.find(({ platform }) => platform === "instagram");
  await sql`
    insert into delivery.inbox_comments (id, workspace_id, account_id, platform, media_id, comment_id, post_id, text,
      author_id, author_username, commented_at, hidden, state)
    select gen_random_uuid(), ${local.workspaceId}, ${account?.id ?? ""}, 'instagram', 'media', 'comment-' || n,
      (select id from posts.posts where workspace_id = ${local.workspaceId} limit 1),
      'Comment ' || n || '. ' || repeat('Is there parking near the gate? ', n % 4), 'reader', 'reader-' || n % 50,
      now() - n * interval '11 minutes', false, case when n % 3 = 0 then 'answered' else 'open' end
    from generate_series(1, ${COMMENTS}::int) as n`;
}
