import type { CommentsConnector } from "@postrider/platforms/comments/connector";
import type { PrivateRepliesConnector } from "@postrider/platforms/private-replies/connector";
import type { PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { AutomationDeps } from "./dependencies.ts";
import type { PollCalls } from "./poll-calls.ts";

/** One poll of one account: the data that each of its steps needs. */
export interface Poll {
  readonly deps: AutomationDeps;
  readonly account: PolledAccount;
  readonly calls: PollCalls;
  readonly comments: CommentsConnector;
  readonly privateReplies: PrivateRepliesConnector;
  /**
   * The automation rules of the account that were active when the poll began, oldest first. At
   * least one.
   */
  readonly rules: readonly AutomationRule[];
}
