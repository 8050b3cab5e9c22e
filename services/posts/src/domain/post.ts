import type { PlatformId } from "@postrider/platforms/registry";
import type { TargetMedia } from "./target-violation.ts";

/** What can be overridden for a platform or an account; an absent field changes nothing. */
export interface PostOption {
  readonly content?: string;
  readonly title?: string;
  readonly privacy?: string;
  /** An empty list is something else than none. */
  readonly tags?: readonly string[];
}

/** Options by platform id or account id. */
export type PostOptions = Readonly<Record<string, PostOption>>;

/** An account as a post sees it: a connected one. */
export interface PostAccount {
  readonly id: string;
  readonly platform: PlatformId;
  readonly username: string;
  readonly status: "active" | "reconnect_required";
}

/** A media item as a post sees it. */
export interface PostMedia extends TargetMedia {
  readonly id: string;
  readonly isReady: boolean;
}
