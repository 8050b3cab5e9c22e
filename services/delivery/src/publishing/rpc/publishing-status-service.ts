import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BatchGetSecondPostsRequest,
  BatchGetSecondPostsResponseSchema,
  BatchGetWaitsRequest,
  BatchGetWaitsResponseSchema,
  GetPublishingStatusRequest,
  GetPublishingStatusResponseSchema,
} from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import { type BoundedCountJson, toBoundedCount } from "@postrider/rest/dashboard/parts";
import type { StatusJson } from "@postrider/rest/dashboard/status";
import { compareDeployments } from "@postrider/shared/deployment/ownership";
import { assertWorkspaceId, isId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { listSecondPosts } from "#src/publishing/db/attempts.ts";
import { findDeployment } from "#src/publishing/db/deployment.ts";
import {
  countWaitingTasks,
  listWaitCauses,
  listWaitingTasks,
  type WaitingAccount,
} from "#src/publishing/db/waits.ts";
import { type WaitCauses, type Wait, waitOf } from "#src/publishing/domain/waits.ts";
import type { Dependencies } from "./dependencies.ts";

/** What holds publications of accounts of a workspace back. */
async function readWaitCauses(
  { sql, deploymentId }: { readonly sql: Sql; readonly deploymentId: string },
  workspaceId: string,
  accountIds: readonly string[],
): Promise<WaitCauses> {
  const [found, causes] = await Promise.all([
    findDeployment(sql, deploymentId),
    listWaitCauses(sql, { workspaceId, accountIds }),
  ]);
  const isDeploymentHeld =
    found !== undefined && compareDeployments(found.stored, found.current).kind === "foreign";
  return { ...causes, isDeploymentHeld };
}

type PublishingStatus = Pick<StatusJson, "pauses" | "heldPlatforms" | "heldAccounts">;

export async function getPublishingStatus(
  deps: Pick<Dependencies, "sql" | "deploymentId">,
  request: GetPublishingStatusRequest,
): Promise<MessageInitShape<typeof GetPublishingStatusResponseSchema>> {
  const { workspaceId } = request;
  assertWorkspaceId(workspaceId);
  const accounts = request.accounts.filter(({ id }) => isId(id));
  const accountIds = accounts.map(({ id }) => id);
  const [causes, waiting] = await Promise.all([
    readWaitCauses(deps, workspaceId, accountIds),
    countWaitingTasks(deps.sql, workspaceId, accounts),
  ]);
  const status: PublishingStatus = {
    pauses: toPauses(causes, workspaceId, waiting),
    heldPlatforms: toHeldPlatforms(causes, waiting),
    heldAccounts: toHeldAccounts(causes, waiting),
  };
  return { json: JSON.stringify(status) };
}

function countOf(
  waiting: readonly WaitingAccount[],
  applies: (account: WaitingAccount) => boolean,
): BoundedCountJson {
  return toBoundedCount(waiting.filter(applies).reduce((total, { count }) => total + count, 0));
}

/** Those that concern the workspace: of its platforms, accounts and itself. */
function toPauses(
  { isDeploymentHeld, pauses }: WaitCauses,
  workspaceId: string,
  waiting: readonly WaitingAccount[],
): PublishingStatus["pauses"] {
  const matches = (kind: string, key: string) => (account: WaitingAccount) =>
    kind === "workspace" || (kind === "account" ? account.accountId : account.platform) === key;
  const shown = pauses
    .filter(({ kind, key }) =>
      kind === "workspace" ? key === workspaceId : waiting.some(matches(kind, key)),
    )
    .map(({ kind, key, reason, createdAt }) => ({
      kind,
      key: kind === "workspace" ? null : key,
      reason,
      since: createdAt.toISOString(),
      waiting: countOf(waiting, matches(kind, key)),
    }));
  const all = countOf(waiting, () => true);
  const whole = { kind: "deployment", key: null, reason: null, since: null, waiting: all } as const;
  return isDeploymentHeld ? [whole, ...shown] : shown;
}

function toHeldPlatforms(
  { platforms, limits }: WaitCauses,
  waiting: readonly WaitingAccount[],
): PublishingStatus["heldPlatforms"] {
  const held = [
    ...platforms.map(({ platform, heldSince, probeAt }) => ({
      platform,
      reason: "no_answer" as const,
      since: heldSince.toISOString(),
      nextTryAt: probeAt?.toISOString() ?? null,
    })),
    ...limits.map(({ platform, until }) => ({
      platform,
      reason: "app_limit" as const,
      since: null,
      nextTryAt: until.toISOString(),
    })),
  ];
  return held
    .filter(({ platform }) => waiting.some((account) => account.platform === platform))
    .map((each) => ({
      ...each,
      waiting: countOf(waiting, (account) => account.platform === each.platform),
    }));
}

function toHeldAccounts(
  { accounts }: WaitCauses,
  waiting: readonly WaitingAccount[],
): PublishingStatus["heldAccounts"] {
  return accounts.flatMap(({ accountId, until }) => {
    const found = waiting.find((account) => account.accountId === accountId);
    if (found === undefined) return [];
    const own = countOf(waiting, (account) => account === found);
    return [{ accountId, platform: found.platform, until: until.toISOString(), waiting: own }];
  });
}

export async function batchGetWaits(
  deps: Pick<Dependencies, "sql" | "deploymentId">,
  { workspaceId, targetIds }: BatchGetWaitsRequest,
): Promise<MessageInitShape<typeof BatchGetWaitsResponseSchema>> {
  assertWorkspaceId(workspaceId);
  const tasks = await listWaitingTasks(deps.sql, workspaceId, targetIds.filter(isId));
  const accountIds = tasks.map(({ accountId }) => accountId);
  const causes = await readWaitCauses(deps, workspaceId, accountIds);
  return {
    waits: tasks.flatMap((task) => {
      const wait = waitOf(causes, { ...task, workspaceId });
      return wait === undefined ? [] : [{ targetId: task.targetId, ...toWait(wait) }];
    }),
  };
}

function toWait({ until, ...wait }: Wait) {
  return { ...wait, ...(until === null ? {} : { until: timestampFromDate(until) }) };
}

export async function batchGetSecondPosts(
  { sql }: Pick<Dependencies, "sql">,
  { workspaceId, targetIds }: BatchGetSecondPostsRequest,
): Promise<MessageInitShape<typeof BatchGetSecondPostsResponseSchema>> {
  assertWorkspaceId(workspaceId);
  const posts = await listSecondPosts(sql, workspaceId, targetIds.filter(isId));
  return {
    posts: posts.map(({ targetId, permalink }) => ({
      targetId,
      ...(permalink === null ? {} : { permalink }),
    })),
  };
}
