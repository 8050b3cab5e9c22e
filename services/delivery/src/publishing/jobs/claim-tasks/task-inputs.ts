import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import type { CallEvent } from "#src/calls/call-event.ts";
import type { CallErrorCode } from "#src/calls/call.ts";
import type { WorkEnd } from "#src/calls/worker.ts";
import type { ExternalAccount } from "#src/publishing/db/attempts.ts";
import {
  hashContent,
  type ClaimedTask,
  type OpenTask,
  type TaskEvent,
} from "#src/publishing/domain/task.ts";

export interface TaskInputs {
  readonly task: OpenTask;
  readonly attemptNumber: number;
  readonly connector: PublishingConnector;
  readonly content: TargetContent;
  readonly media: readonly PublicationMedia[];
  readonly credential: Credential;
  /** Signal that is aborted when another worker has claimed the task, or when the process stops. */
  readonly interrupted: AbortSignal;
}

export function toExternalAccount({ task, credential }: TaskInputs): ExternalAccount {
  const { platform, accountId } = task;
  return { platform, accountId, externalAccountId: credential.externalId };
}

/** The claim's key, and what makes two calls indistinguishable for a search. */
export function toMarkRequest(
  { task, content, connector, credential }: TaskInputs,
  callMs: number,
) {
  const { targetId, generation, fence } = task;
  const { title, media } = content;
  const text = connector.comparableText?.(content.text) ?? content.text;
  const callKey = hashContent({ text, title, mediaIds: media.map(({ id }) => id) });
  const { externalId: externalAccountId } = credential;
  return { targetId, generation, fence, callKey, externalAccountId, callMs };
}

export function learned(
  { targetId, generation }: ClaimedTask,
  attemptNumber: number,
  what: CallEvent,
): Extract<WorkEnd<TaskEvent>, { kind: "learned" }> {
  return { kind: "learned", event: { targetId, generation, attemptNumber, ...what } };
}

export function giveUp(
  task: ClaimedTask,
  attemptNumber: number,
  code: CallErrorCode,
  message = "",
): WorkEnd<TaskEvent> {
  return learned(task, attemptNumber, { kind: "given_up", fence: task.fence, code, message });
}
