import type { EventHandler } from "@postrider/shared/bus/consumer";
import type { Sql } from "@postrider/shared/postgres";

/** Dependencies of the RPCs. */
export interface Dependencies {
  readonly sql: Sql;
  readonly deploymentId: string;
  /** Called when targets may have become ready to be published. */
  readonly nudgeClaims: () => void;
  /** Handlers to which parked events are redelivered. */
  readonly handlers: readonly EventHandler[];
}
