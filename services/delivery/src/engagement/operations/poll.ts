import type { CommentsConnector } from "@postrider/platforms/comments/connector";
import type { PrivateRepliesConnector } from "@postrider/platforms/private-replies/connector";
import type { PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { AutomationDeps } from "./dependencies.ts";
import type { PollCalls } from "./poll-calls.ts";

export interface Poll {
  readonly deps: AutomationDeps;
  readonly account: PolledAccount;
  readonly calls: PollCalls;
  readonly comments: CommentsConnector;
  readonly privateReplies: PrivateRepliesConnector;
  /** Active when the poll began, oldest first. At least one. */
  readonly rules: readonly AutomationRule[];
}
