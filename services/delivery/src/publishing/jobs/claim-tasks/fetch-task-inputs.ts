import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import {
  TargetContentSchema,
  type TargetContent,
} from "@postrider/contracts/posts/v1/target_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { limitReached } from "@postrider/platforms/publishing/outcome";
import { isSearchOver } from "#src/calls/decide.ts";
import type { WorkEnd } from "#src/calls/worker.ts";
import { fetchCredentials } from "#src/clients/accounts.ts";
import { fetchContents } from "#src/publishing/clients/posts.ts";
import { findCheckContents } from "#src/publishing/db/live-checks.ts";
import { isLiveCheck } from "#src/publishing/domain/live-check.ts";
import { attemptInWork, type ClaimedTask, type TaskEvent } from "#src/publishing/domain/task.ts";
import type { PublishContext } from "./publish-context.ts";
import { giveUp, learned, type TaskInputs } from "./task-inputs.ts";

export interface TaskGroup {
  readonly tasks: readonly ClaimedTask[];
  /** The answers of the posts service and the accounts service, in the order of the tasks. */
  readonly answers: Promise<
    readonly [readonly TargetContent[], readonly (Credential | undefined)[]]
  >;
}

interface Answer {
  readonly task: ClaimedTask;
  readonly content: TargetContent;
  /** Undefined while the accounts service cannot read it. */
  readonly credential: Credential | undefined;
}

export type FetchedTask = ReadyTask | WorkEnd<TaskEvent>;

export interface ReadyTask extends Answer {
  readonly kind: "ready";
  readonly credential: Credential;
  readonly attemptNumber: number;
}

/** How long a batch waits for slow token renewals before it is split. */
const SLOW_ANSWER_MS = 100;
/**
 * How long a publish task whose platform this version does not support waits for a newer version.
 */
const NO_CONNECTOR_MS = 60_000;
/** How long a task waits whose access token no process could read. */
const UNREADABLE_MS = 5_000;

/** A live check has its content in our own database; without its record it is not wanted. */
async function contentsOf(
  { sql, posts }: PublishContext["deps"],
  tasks: readonly ClaimedTask[],
): Promise<readonly TargetContent[]> {
  const ofPosts = tasks.filter((task) => !isLiveCheck(task));
  if (ofPosts.length === tasks.length) return await fetchContents(posts, tasks);
  const checks = tasks.filter(isLiveCheck).map(({ targetId }) => targetId);
  const [fetched, stored] = await Promise.all([
    ofPosts.length === 0 ? [] : fetchContents(posts, ofPosts),
    findCheckContents(sql, checks),
  ]);
  const contents = new Map(ofPosts.map((task, index) => [task, fetched[index]]));
  return tasks.map(
    (task) => contents.get(task) ?? stored.get(task.targetId) ?? create(TargetContentSchema),
  );
}

export function ask({ deps }: PublishContext, tasks: readonly ClaimedTask[]): TaskGroup {
  const answers = Promise.all([contentsOf(deps, tasks), fetchCredentials(deps.accounts, tasks)]);
  // After the batch is split, the answers for the whole batch are ignored.
  answers.catch(() => undefined);
  return { tasks, answers };
}

/** Tasks whose tokens are renewed by the same server, or by servers of the same workspace. */
function tokenServerOf({ deps }: PublishContext, { platform, workspaceId }: ClaimedTask): string {
  const connector = isPlatformId(platform) ? deps.connectors[platform] : undefined;
  return connector?.isForeignHost === undefined ? platform : `${platform} ${workspaceId}`;
}

/**
 * The accounts service renews expired tokens first. If that takes long, credentials are requested
 * again per token server, so that a silent one delays only its own platform or, if owners of
 * accounts run it, its own workspace.
 */
export async function askOwners(
  context: PublishContext,
  tasks: readonly ClaimedTask[],
): Promise<readonly TaskGroup[]> {
  if (tasks.length === 0) return [];
  const all = ask(context, tasks);
  const byServer = Map.groupBy(tasks, (task) => tokenServerOf(context, task));
  if (byServer.size === 1) return [all];
  const isSlow = await Promise.race([
    Promise.allSettled([all.answers]).then(() => false),
    sleep(SLOW_ANSWER_MS, true, { ref: false }),
  ]);
  return isSlow ? [...byServer.values()].map((group) => ask(context, group)) : [all];
}

/** Waits for contents and tokens. */
export async function fetchTasks({
  tasks,
  answers,
}: TaskGroup): Promise<ReadonlyMap<ClaimedTask, FetchedTask>> {
  const [contents, credentials] = await answers;
  return new Map(
    tasks.flatMap((task, index) => {
      const content = contents[index];
      if (content === undefined) return [];
      return [[task, toFetched({ task, content, credential: credentials[index] })]];
    }),
  );
}

function toFetched(answer: Answer): FetchedTask {
  const { task, content, credential } = answer;
  const { fence, attemptNumber } = task;
  const isReconciling = task.status === "reconciling";
  if (!content.wanted)
    return isReconciling
      ? giveUp(task, attemptNumber, "outcome_unknown")
      : learned(task, attemptNumber, { kind: "not_wanted", fence });
  if (task.isTooLate && !isReconciling) return giveUp(task, attemptNumber, "missed");
  if (credential === undefined) return withoutInputs(task, UNREADABLE_MS);
  switch (credential.accountStatus) {
    case "active":
      return (
        toUsedUpLimit(task) ?? {
          kind: "ready",
          ...answer,
          credential,
          attemptNumber: attemptInWork(task),
        }
      );
    case "reconnect_required":
      return giveUp(task, attemptNumber, "account_reconnect_required");
    default:
      return giveUp(task, attemptNumber, "account_disconnected");
  }
}

/**
 * Undefined for a post that the platform has begun to receive: the limit counts new posts. Answered
 * before files are prepared, because a limit may hold thousands of videos.
 */
function toUsedUpLimit(task: ClaimedTask): WorkEnd<TaskEvent> | undefined {
  const { platformLimit, fence, handles, status } = task;
  const isBegun = status === "reconciling" || Object.keys(handles ?? {}).length > 0;
  if (platformLimit === null || isBegun) return undefined;
  const { code, message, waitMs } = platformLimit;
  const failure = limitReached(code, message, waitMs);
  const event = { kind: "step_failed", fence, failure, isKnownLimit: true } as const;
  return learned(task, attemptInWork(task), event);
}

/** Of a task whose content or access token cannot be read. */
export function withoutInputs(task: ClaimedTask, delayMs: number): FetchedTask {
  const { isTooLate, status, attemptNumber, claimedAt, sendBefore } = task;
  if (status !== "reconciling" && isTooLate) return giveUp(task, attemptNumber, "missed");
  if (status === "reconciling" && isSearchOver(claimedAt, sendBefore))
    return giveUp(task, attemptNumber, "outcome_unknown");
  return { kind: "release", delayMs };
}

/** Without a connector, releases the task for a process with a newer version. */
export function toTaskInputs(
  { deps }: PublishContext,
  { task, content, credential, attemptNumber }: ReadyTask,
  { media, interrupted }: Pick<TaskInputs, "media" | "interrupted">,
): { readonly kind: "ready"; readonly inputs: TaskInputs } | WorkEnd<TaskEvent> {
  const connector = isPlatformId(task.platform) ? deps.connectors[task.platform] : undefined;
  if (connector === undefined) return { kind: "release", delayMs: NO_CONNECTOR_MS };
  const open = { ...task, handles: deps.sealing.open(task, task.handles) };
  return {
    kind: "ready",
    inputs: { task: open, attemptNumber, connector, content, media, credential, interrupted },
  };
}
