import { createSecretKey, randomBytes } from "node:crypto";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { DashboardService } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { RecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import type { PlatformFeature } from "@postrider/platforms/authorization/permissions";
import {
  createAuthorizationConnectors,
  createAvailableReaders,
} from "@postrider/platforms/authorizations";
import { insertDeployment } from "@postrider/shared/deployment/table";
import type { Sql } from "@postrider/shared/postgres";
import { hashApiKey } from "@postrider/shared/secrets/api-keys";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { startSimulator, type Simulator } from "@postrider/simulator/simulator";
import { startWriteApiKeyUse, type ApiKeyUse } from "#src/jobs/write-api-key-use.ts";
import { AvailableSettings } from "#src/operations/available-settings.ts";
import { CredentialRefresher } from "#src/operations/credential-refresher.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { createRoutes } from "#src/rpc/routes.ts";

const MIGRATIONS = new URL("../migrations", import.meta.url).pathname;

/** Name of the deployment that the data of the accounts service's tests belongs to. */
export const DEPLOYMENT = "default";
const DAY_MS = 86_400_000;
const logger = createLogger({ service: "test", level: "silent" });

export async function createDatabase(poolSize = 8): Promise<TestDatabase> {
  const migrationsFolder = MIGRATIONS;
  const database = await createTestDatabase({ service: "accounts", migrationsFolder, poolSize });
  await insertDeployment(database.sql, DEPLOYMENT);
  return database;
}

export async function createSimulator(): Promise<Simulator> {
  return await startSimulator({ host: "127.0.0.1", port: 0 });
}

export interface AccountsApp extends AsyncDisposable {
  readonly accounts: ReturnType<typeof openClients>["accounts"];
  readonly admission: ReturnType<typeof openClients>["admission"];
  readonly apiKeys: ReturnType<typeof openClients>["apiKeys"];
  readonly authorizations: ReturnType<typeof openClients>["authorizations"];
  readonly dashboard: ReturnType<typeof openClients>["dashboard"];
  readonly credentials: ReturnType<typeof openClients>["credentials"];
  readonly platforms: ReturnType<typeof openClients>["platforms"];
  readonly recovery: ReturnType<typeof openClients>["recovery"];
  readonly removals: ReturnType<typeof openClients>["removals"];
  readonly settings: ReturnType<typeof openClients>["settings"];
  readonly workspaces: ReturnType<typeof openClients>["workspaces"];
  readonly refresher: CredentialRefresher;
  readonly apiKeyUse: ApiKeyUse;
  /** For the jobs of the service. */
  readonly deps: Dependencies;
}

function openClients(peer: ReturnType<typeof createTestPeer>) {
  return {
    accounts: peer.client(AccountService),
    admission: peer.client(AdmissionService),
    apiKeys: peer.client(ApiKeyService),
    authorizations: peer.client(AuthorizationService),
    dashboard: peer.client(DashboardService),
    credentials: peer.client(CredentialService),
    platforms: peer.client(PlatformService),
    recovery: peer.client(RecoveryService),
    settings: peer.client(AccountSettingsService),
    removals: peer.client(WorkspaceRemovalService),
    workspaces: peer.client(WorkspaceService),
  };
}

export const KEY: SealingKey = { id: "k1", secret: createSecretKey(randomBytes(32)) };

/** The settings in which a test's replica of the accounts service differs from the default. */
export interface AppOptions {
  readonly simulatorUrl?: string;
  readonly telegramUrl?: string;
  readonly keys?: readonly SealingKey[];
  /** Whether the accounts service has credentials of our app on X; default true. */
  readonly isXConfigured?: boolean;
  readonly deploymentId?: string;
  readonly instagramLogin?: "facebook" | "instagram";
  /** Features besides publishing for whose permissions the accounts service asks; default: none. */
  readonly features?: readonly PlatformFeature[];
  /** How long after the request a deleted workspace is removed at the earliest; default: 0. */
  readonly settleMs?: number;
  /** Default: the installation has no cells. */
  readonly cell?: string;
  /** Database connection pool of the replica; default: the pool of the test database. */
  readonly sql?: Sql;
}

/**
 * Creates a replica of the accounts service with its real RPC handlers; several replicas may share
 * a database.
 */
export function createApp(database: TestDatabase, options: AppOptions = {}): AccountsApp {
  const { simulatorUrl } = options;
  const at = (platform: string) => `${simulatorUrl ?? "http://127.0.0.1:9"}/${platform}`;
  const settings = {
    features: options.features ?? [],
    instagram: {
      baseUrl: at("instagram"),
      version: "v25.0",
      authorizeUrl: `${at("instagram")}/v25.0/dialog/oauth`,
      clientId: "app",
      clientSecret: "secret",
      login: options.instagramLogin ?? "facebook",
      instagramLogin: {
        baseUrl: `${at("instagram")}/login`,
        oauthBaseUrl: `${at("instagram")}/login`,
        authorizeUrl: `${at("instagram")}/login/oauth/authorize`,
      },
    },
    x: {
      baseUrl: at("x"),
      authorizeUrl: `${at("x")}/i/oauth2/authorize`,
      clientId: options.isXConfigured === false ? undefined : "app",
      clientSecret: "secret",
    },
    facebook: {
      baseUrl: at("facebook"),
      version: "v25.0",
      authorizeUrl: `${at("facebook")}/v25.0/dialog/oauth`,
      clientId: "app",
      clientSecret: "secret",
    },
    youtube: {
      baseUrl: at("youtube"),
      oauthBaseUrl: at("youtube"),
      authorizeUrl: `${at("youtube")}/o/oauth2/v2/auth`,
      clientId: "app",
      clientSecret: "secret",
    },
    tiktok: {
      baseUrl: at("tiktok"),
      authorizeUrl: `${at("tiktok")}/v2/auth/authorize/`,
      clientKey: "app",
      clientSecret: "secret",
    },
    telegram: { baseUrl: options.telegramUrl ?? at("telegram"), botToken: undefined },
    bluesky: { baseUrl: at("bluesky"), plcUrl: `${at("bluesky")}/plc` },
  };
  const apiKeyUse = startWriteApiKeyUse({ sql: database.sql, logger });
  const deps = {
    features: settings.features,
    sql: options.sql ?? database.sql,
    logger,
    connectors: createAuthorizationConnectors(settings, simulatorUrl),
    credentialKeys: options.keys ?? [KEY],
    deploymentId: options.deploymentId ?? DEPLOYMENT,
    otherCells: new Set(
      options.cell === undefined ? [] : ["eu1", "us1"].filter((name) => name !== options.cell),
    ),
    nudge: () => undefined,
  };
  const refresher = new CredentialRefresher(deps);
  const refreshTokens: CredentialRefresher["refresh"] = (current) => refresher.refresh(current);
  const readers = createAvailableReaders(settings);
  const available = new AvailableSettings({ ...deps, refreshTokens }, readers);
  const all: Dependencies = {
    ...deps,
    simulatorUrl,
    publicUrl: "https://postrider.example",
    cell: options.cell,
    sessionLimits: { lifetimeMs: 30 * DAY_MS, idleMs: 7 * DAY_MS },
    settleMs: options.settleMs ?? 0,
    noteKeyUse: (id) => apiKeyUse.note(id),
    refreshTokens,
    readAvailable: (key, platform) => available.read(key, platform),
  };
  return {
    ...openClients(createTestPeer(createRoutes(all))),
    deps: all,
    refresher,
    apiKeyUse,
    [Symbol.asyncDispose]: async () => {
      await refresher[Symbol.asyncDispose]();
      await apiKeyUse[Symbol.asyncDispose]();
    },
  };
}

/** Creates a verified workspace, and an API key with all scopes for the workspace. */
export async function createTenant(app: AccountsApp, requestsPerMinute?: number) {
  const { workspace } = await app.workspaces.createWorkspace({ name: "Test", verified: true });
  const workspaceId = workspace?.id ?? "";
  if (requestsPerMinute !== undefined)
    await app.workspaces.setWorkspaceLimits({ id: workspaceId, limits: { requestsPerMinute } });

  const { key, apiKey } = await app.apiKeys.createApiKey({
    name: "Test",
    workspaceIds: [workspaceId],
    scopes: ["all"],
  });
  return { workspaceId, key, keyId: apiKey?.id ?? "", keyHash: hashApiKey(key) };
}
