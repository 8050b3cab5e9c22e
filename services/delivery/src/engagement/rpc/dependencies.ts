import type { Sql } from "@postrider/shared/postgres";
import type { EngagementConnectors } from "#src/engagement/operations/dependencies.ts";
import type { RefreshesByHand } from "#src/engagement/operations/refreshes-by-hand.ts";

/** What the RPCs about metrics need. */
export interface MetricsRpcDeps {
  readonly sql: Sql;
  readonly connectors: Pick<EngagementConnectors, "metrics">;
  readonly byHand: RefreshesByHand;
}
