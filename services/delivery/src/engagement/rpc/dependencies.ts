import type { Sql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type {
  EngagementConnectors,
  EngagementDeps,
} from "#src/engagement/operations/dependencies.ts";
import type { RefreshesByHand } from "#src/engagement/operations/refreshes-by-hand.ts";

export interface CommentRpcDeps extends Pick<
  EngagementDeps,
  "sql" | "logger" | "accounts" | "onEvents"
> {
  readonly connectors: Pick<EngagementDeps["connectors"], "comments">;
  /** The keys that sign the cursors with which clients request the next page of comments. */
  readonly cursorKeys: CursorKeys;
  /** Deadline of a read from a platform in milliseconds. */
  readonly readTimeoutMs: number;
  /** Called when an action on a comment was stored. */
  readonly nudgeActions: () => void;
}

export interface MetricsRpcDeps {
  readonly sql: Sql;
  readonly connectors: Pick<EngagementConnectors, "metrics">;
  readonly byHand: RefreshesByHand;
}
