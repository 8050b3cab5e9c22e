import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import type { CallEvent } from "#src/calls/call-event.ts";
import type { CallErrorCode } from "#src/calls/call.ts";
import type { ExternalAccount } from "#src/publishing/db/external-accounts.ts";
import type { ClaimedTask, OpenTask, TaskEvent } from "#src/publishing/domain/task.ts";

/** A claimed publish task with everything that the connector of its platform needs. */
export interface TaskInputs {
  readonly task: OpenTask;
  readonly attemptNumber: number;
  readonly connector: PublishingConnector;
  readonly content: TargetContent;
  /** The files of the post as the platform receives them, in order. */
  readonly media: readonly PublicationMedia[];
  readonly credential: Credential;
  /** Signal that is aborted when another worker has claimed the task, or when the process stops. */
  readonly interrupted: AbortSignal;
}

/** Returns the account of a publish task, and the account of the platform that it stands for. */
export function toExternalAccount({ task, credential }: TaskInputs): ExternalAccount {
  const { platform, accountId } = task;
  return { platform, accountId, externalAccountId: credential.externalId };
}

/** How the work on a claimed publish task ended. */
export type WorkEnd =
  /** The worker learned something about the publish task that its caller must record. */
  | { readonly kind: "learned"; readonly event: TaskEvent }
  /** The publish task can be claimed again after `delayMs`; this does not count as an attempt. */
  | { readonly kind: "release"; readonly delayMs: number }
  /** Everything about the publish task is recorded, or another worker has claimed the task. */
  | { readonly kind: "done" };

export const DONE: WorkEnd = { kind: "done" };
export const RELEASE_NOW: WorkEnd = { kind: "release", delayMs: 0 };

export function learned(
  { targetId, generation }: ClaimedTask,
  attemptNumber: number,
  what: CallEvent,
): Extract<WorkEnd, { kind: "learned" }> {
  return { kind: "learned", event: { targetId, generation, attemptNumber, ...what } };
}

export function giveUp(
  task: ClaimedTask,
  attemptNumber: number,
  code: CallErrorCode,
  message = "",
): WorkEnd {
  return learned(task, attemptNumber, { kind: "given_up", fence: task.fence, code, message });
}
