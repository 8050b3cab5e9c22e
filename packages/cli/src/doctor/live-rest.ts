import type { GetLiveCheckResponse } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { DELETE_STEP } from "@postrider/platforms/diagnosis/live/delete-steps";

/** What the tool knows about a live check; without `state`, delivery has not answered yet. */
export interface KnownCheck {
  readonly id: string;
  readonly platform: string;
  readonly state?: GetLiveCheckResponse;
}

/** Whether the live check ended with a publishing call that failed, so that no post was published. */
function wasRefused({ steps, endedAt }: GetLiveCheckResponse): boolean {
  const last = steps.at(-1);
  return endedAt !== undefined && last?.name === "publish" && last.status === "failed";
}

/** Says which post the live check left, or may have left, on the platform; undefined = none. */
export function describeRest({ platform, state, id }: KnownCheck): string | undefined {
  if (state === undefined)
    return `it is not known whether a post is on ${platform}: look for “Postrider check ${id.slice(-8)}”`;
  const { externalId, permalink, calledAt, endedAt, steps, text } = state;
  if (externalId !== undefined)
    return `the post ${externalId}${permalink === undefined ? "" : ` (${permalink})`} is left on ${platform}: delete it by hand`;
  const deletions = steps.filter(({ name }) => name === DELETE_STEP);
  if (deletions.some(({ status }) => status === "ok")) return undefined;
  const wasSent = calledAt !== undefined && !wasRefused(state);
  if (endedAt !== undefined && !wasSent && deletions.length === 0) return undefined;
  return `a post may be left on ${platform}: look for “${text}” and delete it by hand`;
}
