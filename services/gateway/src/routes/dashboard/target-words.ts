import type { TargetWait } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import {
  type TargetWordsJson,
  WAIT_KINDS,
  type WaitsForJson,
} from "@postrider/rest/dashboard/cures";
import type { PostTargetJson } from "@postrider/rest/posts/schemas";
import { causeWords, cureFor } from "@postrider/rest/target-errors/cures";
import { toOptionalInstant } from "@postrider/rest/timestamps";

/**
 * What the dashboard says about a target of a post that was read in English. Where the platform
 * sent no words, the posts service puts our own in their place, which `cause` has already.
 */
export function toTargetWords(target: PostTargetJson): TargetWordsJson {
  const { id, accountId, platform, username, status, error } = target;
  const common = { targetId: id, accountId, platform, username, status, waitsFor: null };
  if (error === null)
    return { ...common, code: null, message: null, retryable: false, cause: null, cure: null };
  const { code, message, retryable } = error;
  const cause = causeWords(code);
  return {
    ...common,
    code,
    message: message === cause.en ? null : message,
    retryable,
    cause,
    cure: cureFor({ code, platform, status, retryable }),
  };
}

export function toWaitsFor({ kind, until, pause, reason }: TargetWait): WaitsForJson | null {
  const known = WAIT_KINDS.find((each) => each === kind);
  if (known === undefined) return null;
  const at = toOptionalInstant(until);
  return { kind: known, until: at, pause: pause ?? null, reason: reason ?? null };
}

/** Whether a retry helps from a time on, which delivery may know. */
export function isRetriedLater({ error, platform, status }: PostTargetJson): boolean {
  return error !== null && cureFor({ ...error, platform, status }).kind === "retry_later";
}
