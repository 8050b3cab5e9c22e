import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import { newWorkspace, type Posts } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";

export const inHours = (hours: number): Timestamp =>
  timestampFromDate(new Date(Date.now() + hours * 3_600_000));

/** Returns the time of day some hours from now, so that no queue slot passes while a test runs. */
export const timeOfDayIn = (hours: number, timeZone = "UTC"): string =>
  new Intl.DateTimeFormat("en-GB", { timeZone, timeStyle: "short" }).format(
    Date.now() + hours * 3_600_000,
  );

/** A queue-slot rule with one slot a day, the next slot in 12 hours. */
export const DAILY_RULE = {
  name: "daily",
  weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
  times: [timeOfDayIn(12)],
  timezone: "UTC",
};

/** Creates a workspace, with shorthands for its accounts and posts. */
export function workspaceOf(posts: Posts) {
  const workspaceId = newWorkspace();
  const connect = (platform = "x") => posts.peers.connectAccount(workspaceId, platform);
  const create = (change: Partial<Parameters<Posts["createPost"]>[0]> = {}) =>
    posts.createPost({ workspaceId, accountIds: [connect()], ...change });
  return {
    workspaceId,
    connect,
    create,
    draft: (change = {}) => create({ isDraft: true, ...change }),
    scheduled: (change = {}) => create({ scheduledAt: inHours(48), ...change }),
    reread: (post: ShownPost) => posts.getPost(workspaceId, post.id),
    ref: (post: ShownPost) => ({ workspaceId, id: post.id }),
    events: async (post: ShownPost) =>
      (await posts.events()).filter(([, { postId }]) => postId === post.id).map(([name]) => name),
    /** Over all months, so that a month may end during a test. */
    quota: async () => {
      const [row] = await posts.sql<{ used: number; reserved: number }[]>`
        select coalesce(sum(used), 0)::int as used, coalesce(sum(reserved), 0)::int as reserved
        from quota_usage
        where workspace_id = ${workspaceId}
        and length(period) = 7`;
      return [row?.used, row?.reserved];
    },
    /**
     * Over all months: open targets reserve quota, and those that are or may be published use it.
     */
    assertQuotaIsTrue: async () => {
      const [row] = await posts.sql<
        { used: number; reserved: number; out: number; open: number }[]
      >`
        select
          (select coalesce(sum(used), 0)::int from quota_usage
            where workspace_id = ${workspaceId} and length(period) = 7) as used,
          (select coalesce(sum(reserved), 0)::int from quota_usage
            where workspace_id = ${workspaceId} and length(period) = 7) as reserved,
          (select count(*)::int from targets where workspace_id = ${workspaceId} and due_day is not null
            and (status in ('published', 'deleting', 'deleted', 'delete_failed')
              or (status = 'failed' and error_code = 'outcome_unknown'))) as out,
          (select count(*)::int from targets where workspace_id = ${workspaceId} and due_day is not null
            and status in ('pending', 'publishing')) as open`;
      expect(row).toMatchObject({ used: row?.out, reserved: row?.open });
    },
  };
}

/** Creates a post on the given number of X accounts, in a workspace of its own. */
export async function publishPost(posts: Posts, targetCount: number): Promise<ShownPost> {
  const { connect, create } = workspaceOf(posts);
  return await create({ accountIds: Array.from({ length: targetCount }, () => connect()) });
}
