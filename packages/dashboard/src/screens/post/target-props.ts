import type { PostDetail, PostTarget } from "@postrider/client";
import type { PostTargetsWordsJson } from "@postrider/rest/dashboard/cures";

export type TargetWords = PostTargetsWordsJson["targets"][number];

export interface TargetProps {
  readonly post: PostDetail;
  readonly target: PostTarget;
  /** Cause, cure and what is waited for; undefined until they are known. */
  readonly words: TargetWords | undefined;
  /** Whether its button is the one that should be pressed first. */
  readonly isFirst: boolean;
}
