import type { PostStatus, TargetErrorCode, TargetStatus } from "@postrider/client";
import type { TileStatus } from "../kit/fold-targets.ts";

interface Target {
  readonly status: TargetStatus;
  readonly errorCode: TargetErrorCode | null;
}

/**
 * What a reader calls the state of a target. Before publishing begins all targets are "pending",
 * and show the state of their post; a failed target whose outcome is not known may be published.
 */
export function tileStatusOf(post: PostStatus, { status, errorCode }: Target): TileStatus {
  if (status === "failed" && errorCode === "outcome_unknown") return "unknown";
  if (status === "pending" && (post === "draft" || post === "scheduled")) return post;
  return status;
}
