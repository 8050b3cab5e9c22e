import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

/** Dependencies of the RPCs about automations. */
export interface AutomationRpcDeps extends EngagementDeps {
  /** The keys that sign the cursors with which clients request the next page of a list. */
  readonly cursorKeys: CursorKeys;
  /** Called when an account may have become due to be polled for new comments. */
  readonly nudgePolls: () => void;
}
