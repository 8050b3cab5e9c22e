import type { PostTarget, PostTargetSummary } from "@postrider/client";
import { api } from "../api/api.ts";

type TargetError = Pick<NonNullable<PostTarget["error"]>, "code" | "retryable">;

/** What a list and the page of a post both know of a target; each has its error in another form. */
export interface KnownTarget extends Pick<PostTargetSummary, "platform" | "status"> {
  readonly errorCode?: TargetError["code"] | null;
  readonly error?: TargetError | null;
}

/** Whether it failed and may be there all the same: a person looks before anything else is done. */
export function isOutcomeUnknown({ status, errorCode, error }: KnownTarget): boolean {
  return status === "failed" && (errorCode ?? error?.code) === "outcome_unknown";
}

/** Whether it failed for certain: the retry of a post sends it again, whether or not it helps. */
export function isRetryable(target: KnownTarget): boolean {
  return target.status === "failed" && !isOutcomeUnknown(target);
}

interface ShownPost {
  readonly id: string;
  readonly targets: readonly Pick<PostTargetSummary, "accountId" | "status">[];
}

/** Retries what failed of a post, and returns how many publications are sent again. */
export async function retryPost({ id, targets }: ShownPost): Promise<number> {
  const failed = targets.filter(({ status }) => status === "failed");
  const ids = new Set(failed.map(({ accountId }) => accountId));
  const after = await api.retryPost(id);
  return after.targets.filter(({ accountId, status }) => ids.has(accountId) && status !== "failed")
    .length;
}
