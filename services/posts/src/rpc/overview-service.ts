import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetOverviewRequest,
  GetOverviewResponseSchema,
  RetryAccountRequest,
  RetryAccountResponseSchema,
} from "@postrider/contracts/posts/v1/overview_service_pb";
import type { CauseJson, CausePostJson, OverviewJson } from "@postrider/rest/dashboard/overview";
import { toBoundedCount } from "@postrider/rest/dashboard/parts";
import { causeWords, cureFor } from "@postrider/rest/target-errors/cures";
import { ServiceError } from "@postrider/shared/errors";
import { assertIds, assertWorkspaceId } from "@postrider/shared/ids";
import { readInTurn } from "@postrider/shared/postgres/begin-in-turn";
import {
  type CausePostRow,
  countPostsByStatus,
  type FailureGroup,
  listFailureGroups,
  listRetryablePosts,
  listScheduledGroups,
  type ScheduledGroup,
} from "#src/db/overview.ts";
import { POST_STATUSES, type PostStatus } from "#src/domain/post-status.ts";
import { MAX_GENERATIONS } from "#src/domain/target.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { type RetryDeps, retryTargets } from "#src/operations/retry-targets.ts";

/** Why a scheduled post will fail: its account is connected without access, or not at all. */
type WillFail = "account_reconnect_required" | "account_disconnected";

export async function getOverview(
  { sql, accountService }: Pick<PostsDeps, "sql" | "accountService">,
  { workspaceId }: GetOverviewRequest,
): Promise<MessageInitShape<typeof GetOverviewResponseSchema>> {
  assertWorkspaceId(workspaceId);
  const { accounts } = await accountService.listAccounts({ workspaceId });
  const working = accounts.filter(({ status }) => status === "active").map(({ id }) => id);
  const connected = new Set(accounts.map(({ id }) => id));
  const { counts, failures, scheduled } = await readInTurn(sql, workspaceId, async () => ({
    counts: await countPostsByStatus(sql, workspaceId, POST_STATUSES),
    failures: await listFailureGroups(sql, workspaceId, MAX_GENERATIONS),
    scheduled: await listScheduledGroups(sql, workspaceId, working),
  }));
  const willFail = (accountId: string): WillFail =>
    connected.has(accountId) ? "account_reconnect_required" : "account_disconnected";
  const byStatus = new Map(counts.map(({ status, count }) => [status, count]));
  // Each count is exact up to the bound, and so is their sum.
  const countOf = (...statuses: readonly PostStatus[]) =>
    toBoundedCount(statuses.reduce((sum, status) => sum + (byStatus.get(status) ?? 0), 0));
  const overview: OverviewJson = {
    counts: {
      all: countOf(...POST_STATUSES),
      draft: countOf("draft"),
      scheduled: countOf("scheduled"),
      publishing: countOf("publishing"),
      published: countOf("published"),
      partial: countOf("partial"),
      failed: countOf("failed"),
      cancelled: countOf("cancelled"),
    },
    needsYou: {
      posts: countOf("failed", "partial"),
      causes: toCauses(failures, scheduled, willFail),
    },
  };
  return { json: JSON.stringify(overview) };
}

function toCauses(
  failures: readonly FailureGroup[],
  scheduled: readonly ScheduledGroup[],
  willFail: (accountId: string) => WillFail,
): CauseJson[] {
  const causes = new Map(failures.map((group) => [keyOf(group), toCause(group)]));
  for (const group of scheduled) {
    const code = willFail(group.accountId);
    const key = keyOf({ ...group, code });
    const known =
      causes.get(key) ??
      toCause({
        ...group,
        code,
        isRetryable: false,
        message: null,
        count: 0,
        retryable: 0,
        posts: [],
      });
    const posts = [...known.posts, ...group.posts.map(toCausePost)];
    causes.set(key, { ...known, scheduled: group.count, posts });
  }
  return [...causes.values()].toSorted((a, b) => b.failed + b.scheduled - (a.failed + a.scheduled));
}

function keyOf({ accountId, code }: { readonly accountId: string; readonly code: string }): string {
  return `${accountId} ${code}`;
}

function toCause(group: FailureGroup): CauseJson {
  const { accountId, platform, username, code, message, count, retryable } = group;
  const target = { code, platform, status: "failed", retryable: group.isRetryable } as const;
  return {
    accountId,
    platform,
    username,
    code,
    cause: causeWords(code),
    cure: cureFor(target),
    message,
    failed: count,
    retryable,
    scheduled: 0,
    posts: group.posts.map(toCausePost),
  };
}

function toCausePost(row: CausePostRow): CausePostJson {
  const { scheduledAt, createdAt } = row;
  return {
    ...row,
    scheduledAt: scheduledAt === null ? null : new Date(scheduledAt).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Posts per call, each in a transaction of its own, so that a call ends within its deadline. */
const MAX_POSTS = 50;

/**
 * Oldest first. A post whose retry is refused, for example because the quota is used up, is left as
 * it is and does not stop the others; one that another request retried meanwhile is not counted.
 */
export async function retryAccount(
  deps: RetryDeps,
  request: RetryAccountRequest,
): Promise<MessageInitShape<typeof RetryAccountResponseSchema>> {
  const { workspaceId, accountId, code, after } = request;
  const optional = [after, request.postId].filter((id) => id !== undefined);
  assertIds(workspaceId, accountId, ...optional);
  if (request.postId !== undefined)
    return { retried: await retryPost(deps, request, request.postId), isMore: false };
  const account = { workspaceId, accountId, code, after, maxGenerations: MAX_GENERATIONS };
  const found = await listRetryablePosts(deps.sql, account, MAX_POSTS + 1);
  let retried = 0;
  const refused: { postId: string; code: string }[] = [];
  const posts = found.slice(0, MAX_POSTS);
  for (const postId of posts)
    try {
      retried += await retryPost(deps, request, postId);
    } catch (error) {
      if (!(error instanceof ServiceError) || isOutage(error)) throw error;
      refused.push({ postId, code: error.reason });
    }
  const last = posts.at(-1);
  if (last === undefined || found.length <= MAX_POSTS) return { retried, refused, isMore: false };
  return { retried, refused, isMore: true, nextAfter: last };
}

/** Returns the number of targets that are sent again, 0 where another request has done it. */
async function retryPost(
  deps: RetryDeps,
  { workspaceId, accountId, code }: RetryAccountRequest,
  postId: string,
): Promise<number> {
  const only = { accountId, code };
  try {
    return await retryTargets(deps, { workspaceId, postId }, only, (_, count) => count);
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "nothing_to_retry") return 0;
    throw error;
  }
}

/** The other posts would fail in the same way. */
function isOutage({ kind }: ServiceError): boolean {
  return kind === "unavailable" || kind === "timeout" || kind === "internal";
}
