import type { CommentsConnector } from "@postrider/platforms/comments/connector";
import type { PrivateRepliesConnector } from "@postrider/platforms/private-replies/connector";
import type { PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { WatchedMedia } from "#src/engagement/domain/media-watch.ts";
import type { AutomationDeps } from "./automation-dependencies.ts";
import type { PlatformCalls } from "./platform-calls.ts";

/** One poll of one account: what every step of it needs. */
export interface Poll {
  readonly deps: AutomationDeps;
  readonly account: PolledAccount;
  readonly calls: PlatformCalls;
  readonly comments: CommentsConnector;
  readonly privateReplies: PrivateRepliesConnector;
  /** The rules of the account that were active when the poll began, oldest first. At least one. */
  readonly rules: readonly AutomationRule[];
}

/** A piece of media whose comments are to be read. */
export interface MediaRead {
  readonly media: WatchedMedia;
  readonly commentCount: number | null;
}
