import { fileURLToPath } from "node:url";
import {
  PLATFORM_FEATURES,
  type PlatformFeature,
} from "@postrider/platforms/authorization/permissions";
import { readAuthorizationSettings } from "@postrider/platforms/authorizations";
import { readAuditDays } from "@postrider/shared/audit/retention";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPublicUrl } from "@postrider/shared/config/addresses";
import { readCells } from "@postrider/shared/config/cells";
import { readDeploymentId } from "@postrider/shared/deployment/ownership";
import { readOutboundRules } from "@postrider/shared/http/outbound-rules";
import { readTrustConfig } from "@postrider/shared/identity/settings";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readSealingKeys } from "@postrider/shared/secrets/sealing";
import { SETTLE_SECONDS } from "@postrider/shared/workspaces/settle";
import type { SessionLimits } from "#src/db/dashboard-sessions.ts";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

interface SimulatorAddresses {
  readonly simulatorUrl: string | undefined;
  readonly simulatorPublicUrl: string | undefined;
}

function readSimulator(read: EnvReader): SimulatorAddresses {
  return {
    simulatorUrl: read
      .about("Address of the simulator. `postrider account connect --simulated` needs it.", {
        level: "tests",
      })
      .optionalString("SIMULATOR_URL")
      ?.replace(/\/+$/, ""),
    simulatorPublicUrl: read
      .about("Address at which browsers open the simulator's pages for connecting accounts.", {
        level: "tests",
        default: "the value of `SIMULATOR_URL`",
      })
      .optionalString("SIMULATOR_PUBLIC_URL")
      ?.replace(/\/+$/, ""),
  };
}

/**
 * Replaces the simulator's address in a page's URL with the address at which browsers reach the
 * simulator. URLs of pages outside the simulator stay as they are.
 */
function toPage(page: string, { simulatorUrl, simulatorPublicUrl }: SimulatorAddresses): string {
  if (simulatorUrl === undefined || simulatorPublicUrl === undefined) return page;
  return page.startsWith(`${simulatorUrl}/`)
    ? simulatorPublicUrl + page.slice(simulatorUrl.length)
    : page;
}

function readFeatures(read: EnvReader): readonly PlatformFeature[] {
  return read
    .about(
      "Features besides publishing for which people grant permission when they connect an account: `comments` (read, answer and hide them), `messages` (private replies to comments) and `metrics`. Your apps on the platforms need the permissions of each feature: if one is missing, Facebook and Instagram refuse to connect the account. After a change, connect existing accounts again.",
    )
    .someOf("PLATFORM_FEATURES", PLATFORM_FEATURES);
}

const DAY_MS = 86_400_000;

function readSessionLimits(read: EnvReader): SessionLimits {
  const days = { min: 1, max: 365 };
  return {
    lifetimeMs:
      DAY_MS *
      read
        .about("Number of days after which a session of the dashboard ends in any case.", {
          level: "advanced",
        })
        .integer("DASHBOARD_SESSION_DAYS", { default: 30, ...days }),
    idleMs:
      DAY_MS *
      read
        .about("Number of days without a request after which a session of the dashboard ends.", {
          level: "advanced",
        })
        .integer("DASHBOARD_SESSION_IDLE_DAYS", { default: 7, ...days }),
  };
}

export function readSettings(read: EnvReader) {
  const simulator = readSimulator(read);
  return {
    ...readProcessConfig(read, "accounts", 8081),
    ...readTrustConfig(read),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    credentialKeys: readSealingKeys(
      read.secret(
        "Keys that encrypt the stored tokens of connected accounts. Format: `id:key`, separated by commas, newest first; each key is 32 random bytes in base64. The newest key encrypts; all keys decrypt.",
        { level: "needed" },
      ),
      "CREDENTIAL_KEYS",
    ),
    deploymentId: readDeploymentId(read),
    auditDays: readAuditDays(read),
    sessionLimits: readSessionLimits(read),
    settleMs: read
      .about(
        "How long after a request to delete a workspace its removal begins at the earliest, and how long each service then waits until it looks again whether nothing is left; and how long a frozen workspace that is moved waits for its requests. It must be longer than any request takes: an import of a file from a URL takes up to 200 s.",
        { level: "tests" },
      )
      .seconds("WORKSPACE_SETTLE_SECONDS", SETTLE_SECONDS),
    publicUrl: readPublicUrl(read),
    cells: readCells(read),
    simulatorUrl: simulator.simulatorUrl,
    platforms: {
      features: readFeatures(read),
      ...readAuthorizationSettings(read, (page) => toPage(page, simulator)),
    },
    outbound: readOutboundRules(read),
  };
}

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return loadConfig(env, readSettings);
}

export function readMigrationConfig() {
  return loadConfig(process.env, readMigrationSettings);
}

export type Config = ReturnType<typeof readConfig>;
