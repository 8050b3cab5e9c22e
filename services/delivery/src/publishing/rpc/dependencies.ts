import type { EventHandler } from "@postrider/shared/bus/consumer";
import type { Sql } from "@postrider/shared/postgres";

/** What the RPCs are built from. */
export interface Dependencies {
  readonly sql: Sql;
  readonly deploymentId: string;
  /** Called when something may be published again. */
  readonly nudgeClaims: () => void;
  /** The handlers that parked events are given to again. */
  readonly handlers: readonly EventHandler[];
}
