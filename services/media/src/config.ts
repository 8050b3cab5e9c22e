import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig } from "@postrider/shared/config";
import { readOutboundAllow } from "@postrider/shared/http/allowed-addresses";
import { readBusConfig, readDatabaseConfig, readProcessConfig } from "@postrider/shared/service";
import { readStorageConfig } from "#src/storage/open-object-store.ts";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export function readConfig() {
  return loadConfig(process.env, (read) => ({
    ...readProcessConfig(read, "media", 8083),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    storage: readStorageConfig(read),
    // Where files are while they are checked; what one user makes another cannot write to.
    tempDir: read.string("MEDIA_TEMP_DIR", {
      default: join(tmpdir(), `postrider-media-${userInfo().uid}`),
    }),
    maxImageBytes: read.integer("MEDIA_MAX_IMAGE_BYTES", { default: 20_000_000, min: 1 }),
    maxVideoBytes: read.integer("MEDIA_MAX_VIDEO_BYTES", { default: 1_000_000_000, min: 1 }),
    grantMs: read.seconds("MEDIA_GRANT_SECONDS", 900),
    pendingMs: read.seconds("MEDIA_PENDING_SECONDS", 86_400),
    leaseMs: read.seconds("LEASE_SECONDS", 60),
    orphanMs: read.seconds("MEDIA_ORPHAN_SECONDS", 7_200),
    outboundAllow: readOutboundAllow(read),
    postsUrl: read.url("POSTS_URL", "http://127.0.0.1:8082"),
  }));
}

export type Config = ReturnType<typeof readConfig>;
