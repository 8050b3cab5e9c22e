import { fileURLToPath } from "node:url";
import { loadConfig } from "@postrider/shared/config";
import { readBusConfig, readDatabaseConfig, readProcessConfig } from "@postrider/shared/service";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export function readConfig() {
  return loadConfig(process.env, (read) => ({
    ...readProcessConfig(read, "media", 8083),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    postsUrl: read.url("POSTS_URL", "http://127.0.0.1:8082"),
  }));
}

export type Config = ReturnType<typeof readConfig>;
