import type { EventHandler } from "@postrider/shared/bus/consumer";
import type { Sql } from "@postrider/shared/postgres";

/** Dependencies of the RPCs of the delivery service. */
export interface Dependencies {
  readonly sql: Sql;
  readonly deploymentId: string;
  /** Called when publish tasks may have become ready to be claimed. */
  readonly nudgeClaims: () => void;
  /** Handlers to which parked events are redelivered. */
  readonly handlers: readonly EventHandler[];
}
