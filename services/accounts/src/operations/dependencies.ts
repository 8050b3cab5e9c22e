import type { PlatformConnectors } from "@postrider/platforms/authorization/registry";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";

/** What the operations and jobs of this service are built from; each takes the part that it needs. */
export interface Dependencies {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: PlatformConnectors;
  /** Newest first: the newest key seals, all keys unseal. */
  readonly credentialKeys: readonly SealingKey[];
  /** Name of this deployment; data that belongs to another deployment is a copy. */
  readonly deploymentId: string;
  /** Wakes the outbox relay; called after a commit that appended an event. */
  readonly nudge: () => void;
}
