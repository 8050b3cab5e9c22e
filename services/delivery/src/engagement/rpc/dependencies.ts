import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

/** Dependencies of the RPCs about comments. */
export interface CommentRpcDeps extends Pick<EngagementDeps, "sql" | "logger" | "accounts"> {
  readonly connectors: Pick<EngagementDeps["connectors"], "comments">;
  /** The keys with which the cursors of comments are signed. */
  readonly cursorKeys: CursorKeys;
  /** Deadline of a read from a platform in milliseconds. */
  readonly readTimeoutMs: number;
  /** Called when an action was stored. */
  readonly nudgeActions: () => void;
}
