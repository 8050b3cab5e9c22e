import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { Publication } from "@postrider/platforms/publishing/publication";
import { releaseTasks } from "#src/publishing/db/leases.ts";
import type { Happening } from "#src/publishing/domain/decision.ts";
import type { ClaimedTask, OpenTask } from "#src/publishing/domain/held-task.ts";
import type { Task } from "#src/publishing/domain/task.ts";
import type { CallMarker } from "./call-marker.ts";
import type { CallsInAir } from "./calls-in-air.ts";
import type { PublishingDeps } from "./deps.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Recorder } from "./recorder.ts";

/** What all workers of the process share. */
export interface Workshop {
  readonly deps: PublishingDeps;
  readonly marker: CallMarker;
  readonly recorder: Recorder;
  readonly leases: LeaseKeeper;
  readonly calls: CallsInAir;
  /** Aborted when the process stops: nothing visible may begin any more, invisible steps end. */
  readonly stopping: AbortSignal;
}

/** One task in work, with everything its connector needs. */
export interface Work {
  readonly task: OpenTask;
  readonly attemptNumber: number;
  readonly connector: PublishingConnector;
  readonly content: TargetContent;
  readonly credential: Credential;
  /** Somebody else has the task, or the process stops. */
  readonly interrupted: AbortSignal;
}

/** Peers or database away: the task costs nothing and is taken again after about this long. */
const BACK_OFF_MS = 1_000;

export function toPublication(
  { deps }: Workshop,
  { task, content, credential }: Work,
): Publication {
  return {
    targetId: task.targetId,
    text: content.text,
    title: content.title,
    privacy: content.privacy,
    tags: content.tags,
    externalId: credential.externalId,
    username: credential.username,
    accessToken: credential.accessToken,
    attributes: credential.attributes,
    media: content.media.map((media) => deps.media.describe(media)),
  };
}

/** Reports what was learned; returns the task as it is then. */
export function report(
  { recorder }: Workshop,
  task: ClaimedTask,
  happening: Happening,
  attemptNumber = task.attemptNumber,
): Promise<Task | undefined> {
  const { targetId, generation } = task;
  return recorder.record({ targetId, generation, attemptNumber, happening });
}

export async function giveUp(
  shop: Workshop,
  task: ClaimedTask,
  code: TargetErrorCode,
  message: string,
  attemptNumber?: number,
): Promise<void> {
  const happening = { kind: "given_up", fence: task.fence, code, message } as const;
  await report(shop, task, happening, attemptNumber);
}

/** Gives tasks back for a moment, a different one for each, so that what failed together does not return together. */
export async function release(
  { deps }: Workshop,
  tasks: readonly ClaimedTask[],
  delayMs?: number,
): Promise<void> {
  if (tasks.length === 0) return;
  const waitMs = delayMs ?? BACK_OFF_MS * (0.5 + deps.random());
  try {
    await releaseTasks(deps.sql, tasks, Math.round(waitMs));
  } catch (error) {
    // The leases end by themselves.
    deps.logger.warn({ err: error, count: tasks.length }, "tasks not released");
  }
}
