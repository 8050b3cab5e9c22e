import type { TargetWait } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import {
  WAIT_KINDS,
  type PostTargetsWordsJson,
  type TargetWordsJson,
  type WaitsForJson,
} from "@postrider/rest/dashboard/cures";
import type { PostDetailJson, PostTargetJson } from "@postrider/rest/posts/schemas";
import { causeWords, cureFor } from "@postrider/rest/target-errors/cures";
import { toOptionalInstant } from "@postrider/rest/timestamps";

/**
 * What the dashboard says about a target of a post that was read in English. Where the platform
 * sent no words, the posts service puts our own in their place, which `cause` has already.
 */
export function toTargetWords(target: PostTargetJson): TargetWordsJson {
  const { id, accountId, platform, username, status, error } = target;
  const common = { targetId: id, accountId, platform, username, status };
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

const NOTHING = { until: null, pause: null, reason: null } as const;

function toWaitsFor({ kind, until, pause, reason }: TargetWait): WaitsForJson | null {
  const known = WAIT_KINDS.find((each) => each === kind);
  if (known === undefined) return null;
  const at = toOptionalInstant(until);
  return { kind: known, until: at, pause: pause ?? null, reason: reason ?? null };
}

/** The targets of a post, with what those that have not ended wait for. */
export function toPostTargets(
  post: PostDetailJson,
  waits: readonly TargetWait[],
): PostTargetsWordsJson {
  const byTarget = new Map(waits.map((wait) => [wait.targetId, wait]));
  const isScheduled = post.status === "scheduled";
  const scheduled = { ...NOTHING, kind: "schedule", until: post.scheduledAt } as const;
  return {
    postId: post.id,
    targets: post.targets.map((target) => {
      const wait = byTarget.get(target.id);
      const waitsFor = wait === undefined ? null : toWaitsFor(wait);
      return { ...toTargetWords(target), waitsFor: isScheduled ? scheduled : waitsFor };
    }),
  };
}
