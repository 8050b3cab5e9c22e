import type { EventHandler } from "@postrider/shared/bus/consumer";
import type { Sql } from "@postrider/shared/postgres";

/** Dependencies of the RPCs of the delivery service. */
export interface Dependencies {
  readonly sql: Sql;
  readonly deploymentId: string;
  /** Called when publish tasks may have become ready to be claimed. */
  readonly nudgeClaims: () => void;
  /**
   * Handlers of events that failed before, were stored (parked), and are now delivered again at an operator's request.
   */
  readonly handlers: readonly EventHandler[];
}
