import { isFinal, type Call } from "#src/calls/call.ts";

/**
 * How one step of a live check ended: `ok` = the platform behaved as Postrider assumes · `warning`
 * = the platform gives no way to find out, or something remains to be done by hand · `failed` = the
 * platform behaved differently · `skipped` = the step does not apply.
 */
export interface LiveCheckStep {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed" | "skipped";
  readonly found: string;
  readonly tookMs: number;
}

/**
 * A live check is the only target without a post in the posts service: its own id stands in for
 * that of a post. It is claimed, marked, searched for and deleted like every other target. Its
 * content is stored in `live_checks`, no event reports it, and its publication requests its
 * deletion in the same transaction.
 */
export function isLiveCheck({
  targetId,
  postId,
}: {
  readonly targetId: string;
  readonly postId: string;
}): boolean {
  return targetId === postId;
}

export interface CheckAttempt {
  readonly outcome: "published" | "retry" | "failed" | "unknown" | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly startedAt: Date;
  readonly calledAt: Date | null;
  readonly finishedAt: Date | null;
}

type Ended = Pick<Call, "status" | "errorCode" | "errorMessage"> & { readonly updatedAt: Date };

export interface LiveCheck {
  readonly text: string;
  readonly task: Ended &
    Pick<Call, "openUnknowns" | "externalId"> & { readonly permalink: string | null };
  readonly attempts: readonly CheckAttempt[];
  /** Requested when the post is published. */
  readonly deletion: Ended | null;
  /** What was read on the platform before the deletion, and after it. */
  readonly readBefore: readonly LiveCheckStep[];
  readonly readAfter: readonly LiveCheckStep[];
  readonly canDelete: boolean;
  readonly staysUnpublished: boolean;
}

/** Undefined while the check runs. */
export function endOf({ task, deletion }: LiveCheck): Date | undefined {
  if (deletion !== null) return isFinal(deletion.status) ? deletion.updatedAt : undefined;
  return isFinal(task.status) && task.status !== "published" ? task.updatedAt : undefined;
}

/** Whether a post of the check is, or may be, on the platform. */
export function mayBeLeft({ task, deletion, attempts, staysUnpublished }: LiveCheck): boolean {
  // A repeated step may have created an unpublished post whose answer was lost.
  if (staysUnpublished && attempts.some(({ outcome }) => outcome === "retry")) return true;
  if (deletion !== null) return deletion.status !== "deleted";
  return task.openUnknowns > 0 || task.status === "calling";
}

/**
 * The steps that have ended, in their order; later ones are only added. What was read after the
 * deletion is stored before the end of the deletion, and is shown after it.
 */
export function toSteps(check: LiveCheck): readonly LiveCheckStep[] {
  const deletion = toDeletion(check);
  return [
    ...check.attempts.flatMap(toAttemptSteps),
    ...toUntried(check),
    ...check.readBefore,
    ...deletion,
    ...(deletion.length === 0 ? [] : check.readAfter),
  ];
}

function toFault({ code, message }: { readonly code: string; readonly message: string }): string {
  return message === "" ? code : `${code}: ${message}`;
}

function between(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime());
}

function toAttemptSteps(attempt: CheckAttempt): readonly LiveCheckStep[] {
  const { startedAt, calledAt, finishedAt } = attempt;
  if (calledAt === null) {
    if (finishedAt === null) return [];
    const tookMs = between(startedAt, finishedAt);
    return [{ name: "prepare", status: "failed", found: toFault(attempt), tookMs }];
  }
  const tookMs = between(startedAt, calledAt);
  const found = "the platform has what the publishing call needs";
  const prepared = { name: "prepare", status: "ok", found, tookMs } as const;
  if (finishedAt === null) return [prepared];
  const published = {
    name: "publish",
    ...toOutcome(attempt),
    tookMs: between(calledAt, finishedAt),
  };
  return [prepared, published];
}

function toOutcome(attempt: CheckAttempt): Pick<LiveCheckStep, "status" | "found"> {
  const { outcome, message, externalId, code } = attempt;
  if (outcome === "unknown")
    return {
      status: "warning",
      found: `the answer was lost, so the post is searched for: ${message}`,
    };
  if (outcome !== "published") return { status: "failed", found: toFault(attempt) };
  const found =
    externalId === null ? "the platform has the post" : `the platform has the post ${externalId}`;
  return code === ""
    ? { status: "ok", found }
    : { status: "warning", found: `${found}; ${message}` };
}

/** Ended without an attempt that says why, or with a post that was never found. */
function toUntried({ text, task, attempts }: LiveCheck): readonly LiveCheckStep[] {
  if (task.status === "published" || !isFinal(task.status)) return [];
  const { errorCode, errorMessage, openUnknowns } = task;
  const found = toFault({ code: errorCode ?? "dropped", message: errorMessage ?? "" });
  const publish = { name: "publish", status: "failed", found, tookMs: 0 } as const;
  if (openUnknowns === 0) return attempts.at(-1)?.outcome === "failed" ? [] : [publish];
  const rest = `the id of the post is not known: look for “${text}” and delete it by hand`;
  return [publish, { name: "delete it", status: "warning", found: rest, tookMs: 0 }];
}

function toDeletion({ text, task, deletion, canDelete }: LiveCheck): readonly LiveCheckStep[] {
  if (deletion === null || !isFinal(deletion.status)) return [];
  const name = "delete it";
  if (deletion.status === "deleted")
    return [{ name, status: "ok", found: "the platform deleted the post", tookMs: 0 }];
  const post = task.permalink ?? task.externalId;
  const byHand =
    post === null ? `look for “${text}” and delete it by hand` : `delete ${post} by hand`;
  const { errorCode, errorMessage } = deletion;
  const why = canDelete
    ? `the platform did not delete the post: ${toFault({ code: errorCode ?? "", message: errorMessage ?? "" })}`
    : "the platform lets no program delete posts";
  return [
    { name, status: canDelete ? "failed" : "warning", found: `${why}; ${byHand}`, tookMs: 0 },
  ];
}
