import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { EnvReader } from "@postrider/shared/config";
import { readConnectionString } from "@postrider/shared/postgres/tls";

export type Environment = Readonly<Record<string, string | undefined>>;

export const processEnvironment: Environment = process.env;

const DEFAULT_FILE = "/etc/postrider/postrider.env";

/** What `serve` itself reads; the other settings are those of the services. */
export function readServeSettings(read: EnvReader) {
  return {
    databaseUrl: readConnectionString(
      read,
      "DATABASE_URL",
      "Connection string of Postgres with the owner of the database, who may create roles. No service is given it.",
    ),
    dataDir: read
      .about("Folder for secrets, media and temporary files. Back it up.", { level: "needed" })
      .string("POSTRIDER_DATA_DIR", { default: "/var/lib/postrider" }),
    settingsFile: read
      .about(
        "File with settings, one `NAME=value` per line. Variables of the environment override it.",
      )
      .string("POSTRIDER_SETTINGS_FILE", { default: DEFAULT_FILE }),
    host: read
      .about("IP address on which the gateway listens. The other services listen on 127.0.0.1.")
      .string("HOST", { default: "127.0.0.1" }),
    port: read
      .about(
        "Port of the gateway. The next five ports are those of the other services and the inspector; the ports for metrics are higher by 1000.",
      )
      .integer("PORT", { default: 8080, min: 1, max: 64_000 }),
    logLevel: read
      .about("Lowest level of log lines.")
      .oneOf("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "silent"], "info"),
    inspectorUrl: read
      .about(
        "Address of an inspector that runs under another user or in another container. Without it, `serve` starts one, which has no secret but the same user.",
      )
      .optionalString("INSPECTOR_URL"),
  };
}

export type ServeSettings = ReturnType<typeof readServeSettings>;

export interface GivenSettings {
  readonly env: Environment;
  /** Names in the file, where a misspelled one is a fault. */
  readonly inFile: readonly string[];
}

/** Where the settings come from, in the words of an operator who has to correct one. */
export function settingsSource(env: Environment): string {
  const file = env["POSTRIDER_SETTINGS_FILE"] ?? DEFAULT_FILE;
  if (file === "") return "the environment";
  return existsSync(file)
    ? `${file} and the environment`
    : `the environment (${file} does not exist)`;
}

/**
 * The environment overrides the file. The default file may be missing; one that is named may not.
 */
export function mergeSettingsFile(env: Environment): GivenSettings {
  const named = env["POSTRIDER_SETTINGS_FILE"];
  // systemd and containers read the file themselves, and name none.
  if (named === "") return { env, inFile: [] };
  const file = named ?? DEFAULT_FILE;
  try {
    const settings = parseEnv(readFileSync(file, "utf8"));
    return { env: { ...settings, ...env }, inFile: Object.keys(settings) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "ENOENT" && named === undefined) return { env, inFile: [] };
    throw new Error(`the file of settings ${file} cannot be read (${code})`, { cause: error });
  }
}
