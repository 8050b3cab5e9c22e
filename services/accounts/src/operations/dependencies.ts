import type { PlatformFeature } from "@postrider/platforms/authorization/permissions";
import type { AuthorizationConnectors } from "@postrider/platforms/authorizations";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountKey } from "#src/db/accounts.ts";
import type { CredentialRow } from "#src/db/credentials.ts";
import type { SessionLimits } from "#src/db/dashboard-sessions.ts";

export type CurrentCredential = Pick<
  CredentialRow,
  "workspaceId" | "accountId" | "platform" | "version"
>;

/**
 * The result of a token refresh: `settled` = the stored credential has new tokens, or its account
 * has to be connected again · `busy` = another process holds the refresh lease, or the database is
 * a copy of another deployment's database · `failed` = the platform gave no definite answer.
 */
export type RefreshOutcome = "settled" | "busy" | "failed";

export type AvailableValues = Readonly<Record<string, unknown>>;

export interface Dependencies {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: AuthorizationConnectors;
  readonly features: readonly PlatformFeature[];
  readonly simulatorUrl: string | undefined;
  /** URL at which browsers and platforms reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** The cell that new API keys name; undefined in an installation without cells. */
  readonly cell: string | undefined;
  /** The cells to which a workspace can be moved. */
  readonly otherCells: ReadonlySet<string>;
  /** Encryption keys, newest first: the newest key encrypts, and every key decrypts. */
  readonly credentialKeys: readonly SealingKey[];
  /** If the database contains another name, it is a copy of that deployment's database. */
  readonly deploymentId: string;
  /** Wakes the outbox relay, after the commit of a transaction that appended an event. */
  readonly nudge: () => void;
  readonly sessionLimits: SessionLimits;
  /** Records that an API key or session was used; a job writes the time of the use later. */
  readonly noteKeyUse: (id: string) => void;
  /** How long after a request to delete a workspace its removal begins at the earliest. */
  readonly settleMs: number;
  /** Failures of the platform are returned as outcomes, never thrown. */
  readonly refreshTokens: (current: CurrentCredential) => Promise<RefreshOutcome>;
  /** Null when the platform offers none or does not answer within 3 seconds. */
  readonly readAvailable: (key: AccountKey, platform: string) => Promise<AvailableValues | null>;
}
