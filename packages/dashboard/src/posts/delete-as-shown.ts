import type { PlatformId, PostStatus, TargetStatus } from "@postrider/client";
import { api } from "../api/api.ts";
import { isOutcomeUnknown, isRetryable, type KnownTarget } from "./failed-targets.ts";
import { isPlanned } from "./move-post.ts";
import { readPost } from "./posts-api.ts";
import { ChangedMeanwhile } from "./publish-now.ts";

/** What a list and the page of a post both know of it. */
export interface DeletablePost {
  readonly id: string;
  readonly status: PostStatus;
  readonly targets: readonly KnownTarget[];
}

type CanDelete = (platform: PlatformId) => boolean;

/** What a deletion does on each platform, before it is done. */
export function effectOf({ status, targets }: DeletablePost, canDelete: CanDelete) {
  const published = platformsOf(targets, "published", "delete_failed");
  return {
    /** The post was not sent to any account, and is gone afterwards. */
    isPlanned: isPlanned({ status }),
    deleted: published.filter((platform) => canDelete(platform)),
    kept: published.filter((platform) => !canDelete(platform)),
    /** It may be there, and stays if it is. */
    unknown: targets.filter(isOutcomeUnknown).map(({ platform }) => platform),
    stopped: platformsOf(targets, "pending"),
    /** The server refuses the deletion while a call is open or the outcome of one is looked for. */
    sending: platformsOf(targets, "publishing"),
    neverSent: targets.filter(isRetryable).map(({ platform }) => platform),
  };
}

function platformsOf(targets: DeletablePost["targets"], ...statuses: readonly TargetStatus[]) {
  return targets.flatMap(({ platform, status }) => (statuses.includes(status) ? [platform] : []));
}

export type DeletionEffect = ReturnType<typeof effectOf>;

/**
 * Deletes a post if that still does what is shown: a draft that was published meanwhile stays on
 * its platforms.
 *
 * @throws An error for which `isChangedMeanwhile` holds, if it does something else by now.
 */
export async function deleteAsShown(shown: DeletablePost, canDelete: CanDelete): Promise<void> {
  const { post, etag } = await readPost(shown.id);
  const [now, said] = [post, shown].map((each) => JSON.stringify(effectOf(each, canDelete)));
  if (now !== said) throw new ChangedMeanwhile();
  await api.deletePost(post.id, {}, { ifMatch: etag });
}
