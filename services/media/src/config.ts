import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl } from "@postrider/shared/config/addresses";
import { readOutboundAllow } from "@postrider/shared/http/allowed-addresses";
import {
  readBusConfig,
  readDatabaseConfig,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readStorageConfig } from "#src/storage/open-object-store.ts";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "media", 8083),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    storage: readStorageConfig(read),
    // What one user makes another cannot write to.
    tempDir: read
      .about(
        "Where files are while they are checked; needs room for the largest files, four at a time.",
        "`postrider-media-<uid>` in the system's folder",
      )
      .string("MEDIA_TEMP_DIR", { default: join(tmpdir(), `postrider-media-${userInfo().uid}`) }),
    maxImageBytes: read
      .about("Bytes of an image, at most.")
      .integer("MEDIA_MAX_IMAGE_BYTES", { default: 20_000_000, min: 1 }),
    maxVideoBytes: read
      .about("Bytes of a video, at most.")
      .integer("MEDIA_MAX_VIDEO_BYTES", { default: 1_000_000_000, min: 1 }),
    grantMs: read
      .about("How long an upload may be begun after `POST /media/presign`.")
      .seconds("MEDIA_GRANT_SECONDS", 900),
    pendingMs: read
      .about("How long media that were never completed are kept.")
      .seconds("MEDIA_PENDING_SECONDS", 86_400),
    leaseMs: read
      .about("How long work of a process that died is left to it.")
      .seconds("LEASE_SECONDS", 60, 0.1),
    orphanMs: read
      .about(
        "Age from which files that no row names are removed; longer than a check or an import takes.",
      )
      .seconds("MEDIA_ORPHAN_SECONDS", 7_200),
    outboundAllow: readOutboundAllow(
      read.about(
        "Private addresses that imports and the cards of links may reach all the same, as `ip:port` or `ip:port-port`.",
      ),
    ),
    postsUrl: readPeerUrl(read, "posts"),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

/** Migrations need only the database settings. */
export function readMigrationConfig() {
  return loadConfig(process.env, readDatabaseConfig);
}

export type Config = ReturnType<typeof readConfig>;
