import type { EventHandler } from "@postrider/shared/bus/consumer";
import type { Sql } from "@postrider/shared/postgres";

export interface Dependencies {
  readonly sql: Sql;
  readonly deploymentId: string;
  readonly nudgeClaims: () => void;
  /** Deliver parked events again at an operator's request. */
  readonly handlers: readonly EventHandler[];
}
