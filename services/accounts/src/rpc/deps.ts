import type { PlatformConnectors } from "@postrider/platforms/authorization/registry";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";

/** What the RPCs of this service are built from; each takes the part that it needs. */
export interface Deps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: PlatformConnectors;
  readonly simulatorUrl: string | undefined;
  /** Where people and platforms reach the gateway; without a slash at the end. */
  readonly publicUrl: string;
  /** Newest first. */
  readonly credentialKeys: readonly SealingKey[];
  /** Name of this deployment; data that belongs to another one is a copy. */
  readonly deploymentId: string;
  /** Wakes the relay; called after a commit that appended an event. */
  readonly nudge: () => void;
  /** Notes that a key was used; written later. */
  readonly noteKeyUse: (keyId: string) => void;
}
