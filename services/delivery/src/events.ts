import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
  type AttemptRecordSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import {
  CommentActionCompletedSchema,
  InboxChangedSchema,
} from "@postrider/contracts/engagement/v1/engagement_events_pb";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { outboxEvent, type OutboxEvent } from "@postrider/shared/outbox";
import type { Attempt } from "#src/calls/call.ts";
import { isRetryable } from "#src/domain/retry-wait.ts";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import { countAttempts, type TargetUpdate, type Task } from "#src/publishing/domain/task.ts";

function toStatus(task: Task): string {
  return task.status === "published" || task.status === "failed" ? task.status : "publishing";
}

/**
 * Time at which a worker may take the publish task next; undefined while a worker holds the task or
 * when the task has ended.
 */
function nextAttemptAt(task: Task): Date | undefined {
  return task.status === "queued" || task.status === "unknown" ? task.wakeAt : undefined;
}

function toAttemptRecord(attempt: Attempt): MessageInitShape<typeof AttemptRecordSchema> {
  return {
    number: attempt.number,
    startedAt: timestampFromDate(attempt.startedAt),
    outcome: attempt.outcome ?? "",
    code: attempt.code,
    message: attempt.message,
    ...(attempt.finishedAt === null ? {} : { finishedAt: timestampFromDate(attempt.finishedAt) }),
  };
}

function errorOf(task: {
  readonly status: string;
  readonly errorCode: TargetErrorCode | null;
  readonly errorMessage: string | null;
}) {
  if (task.errorCode === null) return {};
  return {
    errorCode: task.errorCode,
    errorMessage: task.errorMessage ?? "",
    errorRetryable: task.status !== "published" && isRetryable(task.errorCode),
  };
}

/**
 * Builds the message that describes the current state of a target. The event `TargetUpdated` and
 * the RPC `BatchGetTargetStates` contain this message.
 */
export function toTargetUpdated({
  task,
  attempt,
  isLaterUpdate = false,
}: TargetUpdate): MessageInitShape<typeof TargetUpdatedSchema> {
  const next = nextAttemptAt(task);
  return {
    workspaceId: task.workspaceId,
    postId: task.postId,
    targetId: task.targetId,
    generation: task.generation,
    version: BigInt(task.version),
    status: toStatus(task),
    attemptCount: countAttempts(task),
    isLaterUpdate,
    ...(task.externalId === null ? {} : { externalId: task.externalId }),
    ...(task.permalink === null ? {} : { permalink: task.permalink }),
    ...(task.status !== "published" || task.finishedAt === null
      ? {}
      : { publishedAt: timestampFromDate(task.finishedAt) }),
    ...errorOf(task),
    ...(next === undefined ? {} : { nextAttemptAt: timestampFromDate(next) }),
    ...(attempt === undefined ? {} : { attempt: toAttemptRecord(attempt) }),
  };
}

/** Builds the event from which the posts service learns the state of a target. */
export function targetUpdated(update: TargetUpdate): OutboxEvent {
  return outboxEvent(TargetUpdatedSchema, toTargetUpdated(update), update.task.postId);
}

function toDeletionStatus({ status }: DeletionTask): string {
  if (status === "deleted") return "deleted";
  return status === "failed" ? "delete_failed" : "deleting";
}

/**
 * Builds the message that describes the current state of a post's deletion from a platform. The
 * event `DeletionUpdated` and the RPC `BatchGetTargetStates` contain this message.
 */
export function toDeletionUpdated(
  task: DeletionTask,
): MessageInitShape<typeof DeletionUpdatedSchema> {
  return {
    workspaceId: task.workspaceId,
    postId: task.postId,
    targetId: task.targetId,
    deletion: task.deletion,
    version: BigInt(task.version),
    status: toDeletionStatus(task),
    ...errorOf(task),
  };
}

/** Builds the event from which the posts service learns the state of a post's deletion. */
export function deletionUpdated(task: DeletionTask): OutboxEvent {
  return outboxEvent(DeletionUpdatedSchema, toDeletionUpdated(task), task.postId);
}

/** Builds the event that new comments are in the inbox of a workspace. */
export function inboxChanged(workspaceId: string): OutboxEvent {
  return outboxEvent(InboxChangedSchema, { workspaceId }, workspaceId);
}

/** Builds the event that reports that an action on a comment ended. */
export function commentActionCompleted(action: CommentAction): OutboxEvent {
  const { workspaceId, accountId, id: actionId, version, finishedAt } = action;
  const occurredAt = timestampFromDate(finishedAt ?? new Date(0));
  const message = { workspaceId, actionId, version: BigInt(version), occurredAt };
  return outboxEvent(CommentActionCompletedSchema, message, accountId);
}
