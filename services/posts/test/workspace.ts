import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { expect } from "vitest";
import { newWorkspace, type Posts } from "./fixture.ts";

export const inHours = (hours: number): Timestamp =>
  timestampFromDate(new Date(Date.now() + hours * 3_600_000));

/** A workspace with accounts, and posts of every kind in it. */
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
    reread: (post: Post) => posts.getPost(workspaceId, post.id),
    ref: (post: Post) => ({ workspaceId, id: post.id }),
    events: async (post: Post) =>
      (await posts.events()).filter(([, { postId }]) => postId === post.id).map(([name]) => name),
    /** What the workspace's month holds. */
    month: async () => {
      const { monthly } = await posts.quota.getQuota({ workspaceId });
      return [Number(monthly?.used), Number(monthly?.reserved)];
    },
    /** Over all months: what is reserved is what is open, what is used is what is or may be out. */
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
