import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  DeletionUpdated,
  TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type { AttemptRow } from "#src/db/target-attempts.ts";
import type { DeletionUpdate } from "#src/domain/deletion.ts";
import type { TargetUpdate } from "#src/domain/target.ts";

function toDate(instant: Timestamp | undefined): Date | null {
  return instant === undefined ? null : timestampDate(instant);
}

function parseStatus(status: string): TargetUpdate["status"] {
  if (status === "publishing" || status === "published" || status === "failed") return status;
  throw new Error(`a target cannot become ${JSON.stringify(status)}`);
}

/** What the update says of its target. An unknown status throws: the event is then parked, not guessed at. */
export function parseUpdate(message: TargetUpdated): TargetUpdate {
  const { errorCode: code, errorMessage = "", errorRetryable: retryable } = message;
  return {
    generation: message.generation,
    version: Number(message.version),
    status: parseStatus(message.status),
    externalId: message.externalId ?? null,
    permalink: message.permalink ?? null,
    publishedAt: toDate(message.publishedAt),
    error: code === undefined ? null : { code, message: errorMessage, retryable },
    attemptCount: message.attemptCount,
    nextAttemptAt: toDate(message.nextAttemptAt),
  };
}

function parseDeletionStatus(status: string): DeletionUpdate["status"] {
  if (status === "deleting" || status === "deleted" || status === "delete_failed") return status;
  throw new Error(`a deletion cannot become ${JSON.stringify(status)}`);
}

/** What the update says of its target's deletion. An unknown status throws, as above. */
export function parseDeletion(message: DeletionUpdated): DeletionUpdate {
  const { errorCode: code, errorMessage = "", errorRetryable: retryable } = message;
  return {
    deletion: message.deletion,
    version: Number(message.version),
    status: parseDeletionStatus(message.status),
    error: code === undefined ? null : { code, message: errorMessage, retryable },
  };
}

function parseAttempt(message: TargetUpdated): AttemptRow | undefined {
  const { attempt } = message;
  if (attempt?.startedAt === undefined) return undefined;
  return {
    workspaceId: message.workspaceId,
    targetId: message.targetId,
    number: attempt.number,
    generation: message.generation,
    version: Number(message.version),
    startedAt: timestampDate(attempt.startedAt),
    finishedAt: toDate(attempt.finishedAt),
    outcome: attempt.outcome,
    code: attempt.code,
    message: attempt.message,
  };
}

/** The newest record of each attempt: one insert may not meet the same row twice. */
export function newestAttempts(news: readonly TargetUpdated[]): AttemptRow[] {
  const newest = new Map<string, AttemptRow>();
  for (const attempt of news.flatMap((message) => parseAttempt(message) ?? [])) {
    const key = `${attempt.targetId} ${attempt.number}`;
    const known = newest.get(key);
    const age =
      known === undefined
        ? 1
        : attempt.generation - known.generation || attempt.version - known.version;
    if (age > 0) newest.set(key, attempt);
  }
  return [...newest.values()];
}
