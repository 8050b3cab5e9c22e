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
  /** Sign the cursors with which clients request the next page. */
  readonly cursorKeys: CursorKeys;
  readonly readTimeoutMs: number;
  readonly nudgeActions: () => void;
}

export interface MetricsRpcDeps {
  readonly sql: Sql;
  readonly connectors: Pick<EngagementConnectors, "metrics">;
  readonly byHand: RefreshesByHand;
}
