import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readAuditDays } from "@postrider/shared/audit/retention";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl, readPublicUrl } from "@postrider/shared/config/addresses";
import { readMediaKeys, readMediaUrlMs } from "@postrider/shared/config/media-urls";
import { isProduction } from "@postrider/shared/config/production";
import { readDeploymentId } from "@postrider/shared/deployment/ownership";
import { readOutboundRules } from "@postrider/shared/http/outbound-rules";
import { readTrustConfig } from "@postrider/shared/identity/settings";
import { longestTransferMs } from "@postrider/shared/limits/minimum-rate";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readStorageConfig } from "#src/storage/open-object-store.ts";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/**
 * Maximum time from the creation of an object to the commit of the row that names it. It includes
 * the upload, because some stores date an object at its start.
 */
function orphanSeconds(...maxBytes: readonly number[]): number {
  return Math.ceil(longestTransferMs(Math.max(...maxBytes)) / 1000) + 7_200;
}

function readLimits(read: EnvReader) {
  const maxImageBytes = read
    .about("Maximum size of an uploaded image in bytes. Larger images are refused.")
    .integer("MEDIA_MAX_IMAGE_BYTES", { default: 20_000_000, min: 1 });
  const maxVideoBytes = read
    .about("Maximum size of an uploaded video in bytes. Larger videos are refused.")
    .integer("MEDIA_MAX_VIDEO_BYTES", { default: 1_000_000_000, min: 1 });
  return {
    maxImageBytes,
    maxVideoBytes,
    storageBytes: read
      .about(
        "Maximum number of bytes of media that a workspace may store. Further uploads and imports are refused. `postrider storage set-limit` sets another limit for one workspace.",
      )
      .integer("MEDIA_STORAGE_BYTES", { default: 100_000_000_000, min: 0 }),
    retentionDays: read
      .about(
        "Media that only ended posts use are removed this number of days after their last publication. Drafts and scheduled posts keep their media, and media that were never published stay. 0 keeps all media.",
      )
      .integer("MEDIA_RETENTION_DAYS", { default: 30, min: 0, max: 36_500 }),
    grantMs: read
      .about(
        "How long after `POST /media/presign` the upload of the file may begin. Later uploads are refused.",
        {
          level: "advanced",
        },
      )
      .seconds("MEDIA_GRANT_SECONDS", 900),
    pendingMs: read
      .about(
        "Age at which media without a completed upload are deleted. Media whose file is so large that its upload may take longer are kept longer.",
        { level: "advanced" },
      )
      .seconds("MEDIA_PENDING_SECONDS", 86_400),
    orphanMs: read
      .about(
        "Age at which stored files that no row in the database references are deleted. It must be longer than any upload, check or import takes.",
        {
          level: "tests",
          default: "two hours more than the longest upload that the limits on files allow",
        },
      )
      .seconds("MEDIA_ORPHAN_SECONDS", orphanSeconds(maxImageBytes, maxVideoBytes)),
  };
}

function readLinks(read: EnvReader) {
  return {
    publicUrl: readPublicUrl(read),
    mediaKeys: readMediaKeys(read),
    mediaUrlMs: readMediaUrlMs(read),
  };
}

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "media", 8083),
    ...readTrustConfig(read),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    deploymentId: readDeploymentId(read),
    auditDays: readAuditDays(read),
    storage: readStorageConfig(read),
    // The id, because a process cannot write to a folder of another user, and because a user that
    // systemd makes for a service may have no name.
    tempDir: read
      .about(
        "Temporary folder of the media service for files that it checks or imports. It needs space for five files of the maximum size.",
        { level: "advanced", default: "`postrider-media-<uid>` in the system's temporary folder" },
      )
      .string("MEDIA_TEMP_DIR", {
        default: join(tmpdir(), `postrider-media-${process.getuid?.()}`),
      }),
    ...readLimits(read),
    ...readLinks(read),
    leaseMs: read
      .about(
        "Duration of a lease, the time for which one process alone works on something. After a crash, other processes continue the work when the lease ends.",
        {
          level: "advanced",
        },
      )
      .seconds("LEASE_SECONDS", 20, 0.1),
    outbound: readOutboundRules(read),
    postsUrl: readPeerUrl(read, "posts"),
    accountsUrl: readPeerUrl(read, "accounts"),
    inspectorUrl: readInspectorUrl(read),
  };
}

/**
 * Without an inspector, child processes of the media service read uploaded files. Only development
 * allows that, because the media service has secrets.
 */
function readInspectorUrl(read: EnvReader): string | undefined {
  const url = read
    .about(
      "Address of the inspector: the process that reads uploaded files and has neither secrets nor network access. Required in production. Without it, the media service reads uploaded files in its own child processes. Files travel to it without TLS, so reach it over this machine or a network that others cannot read.",
      { level: "needed" },
    )
    .optionalString("INSPECTOR_URL");
  if (url === undefined && isProduction(read))
    read.fail(
      "INSPECTOR_URL",
      "is required with POSTRIDER_ENV=production; run `node src/inspection/server/main.ts` where it has no secret and no network",
    );
  if (url !== undefined && URL.parse(url)?.protocol !== "http:")
    read.fail("INSPECTOR_URL", "is not an http:// address");
  return url;
}

export function readInspectorSettings(read: EnvReader) {
  return {
    host: read
      .about("Address that the process listens on.")
      .string("HOST", { default: "127.0.0.1" }),
    port: read
      .about("Port of the inspector for inspections and health probes.")
      .integer("PORT", { default: 8085, min: 0, max: 65_535 }),
  };
}

export function readInspectorConfig() {
  return loadConfig(process.env, readInspectorSettings);
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

export function readMigrationConfig() {
  return loadConfig(process.env, readMigrationSettings);
}

export type Config = ReturnType<typeof readConfig>;
