import type { PlatformFeature } from "@postrider/platforms/authorization/permissions";
import type { AuthorizationConnectors } from "@postrider/platforms/platforms";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountKey } from "#src/db/accounts.ts";
import type { CredentialRow } from "#src/db/credentials.ts";

/** The stored credential whose tokens a refresh replaces. */
export type CurrentCredential = Pick<
  CredentialRow,
  "workspaceId" | "accountId" | "platform" | "version"
>;

/**
 * The result of a token refresh: `settled` = the stored credential has new tokens, or its account has to be connected
 * again · `busy` = another process holds the refresh lease, or the database is a copy of another deployment's database
 * · `failed` = the platform gave no definite answer.
 */
export type RefreshOutcome = "settled" | "busy" | "failed";

/** The options that a platform offers an account now, as JSON. */
export type AvailableValues = Readonly<Record<string, unknown>>;

/**
 * The dependencies of the RPCs, jobs and operations of the accounts service; each function takes the part that it
 * needs.
 */
export interface Dependencies {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: AuthorizationConnectors;
  /** The features besides publishing that this installation has turned on. */
  readonly features: readonly PlatformFeature[];
  /** URL of the simulator; undefined = simulated accounts cannot be connected. */
  readonly simulatorUrl: string | undefined;
  /** URL at which browsers and platforms reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** Encryption keys, newest first: the newest key encrypts, and every key decrypts. */
  readonly credentialKeys: readonly SealingKey[];
  /**
   * Name of this deployment. If the database contains the name of another deployment, it is a copy of that deployment's
   * database.
   */
  readonly deploymentId: string;
  /** Wakes the outbox relay; must be called after the commit of a transaction that appended an event. */
  readonly nudge: () => void;
  /** Records that an API key was used; a job writes the time of the use later. */
  readonly noteKeyUse: (keyId: string) => void;
  /**
   * Requests new tokens from the platform and stores them. Failures of the platform are returned as outcomes, never
   * thrown.
   */
  readonly refreshTokens: (current: CurrentCredential) => Promise<RefreshOutcome>;
  /** Asks the platform which options it offers an account now; null when it offers none or does not answer within 3 seconds. */
  readonly readAvailable: (key: AccountKey, platform: string) => Promise<AvailableValues | null>;
}
