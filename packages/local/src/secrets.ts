import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { readJsonFile, writeJsonFile } from "#src/json-file.ts";
import { type DatabaseService, databaseServices } from "#src/services.ts";

/** All secrets that the stack generates. One file stores them. */
export interface Secrets {
  /** Password of the owner of the embedded Postgres. */
  readonly ownerPassword: string;
  readonly rolePasswords: Readonly<Record<DatabaseService, string>>;
  /** Internal secret with which the services authenticate to each other. */
  readonly internalSecret: string;
  /** Encryption keys for the credentials of accounts, as `kid:base64`, the newest first. */
  readonly credentialKeys: string;
  /**
   * Encryption keys for ids and URLs that platforms return while a post is being published, as `kid:base64`, the newest
   * first.
   */
  readonly handleKeys: string;
  /** Key that signs the URLs of media files. */
  readonly mediaKey: string;
  /** Secret of the apps that are registered with the simulated platforms. */
  readonly platformAppSecret: string;
  /** The demo workspace and its API key; absent until they are created. */
  readonly demo?: { readonly workspaceId: string; readonly apiKey: string };
}

/** Returns 256 random bits as text that needs no escaping in URLs, shells and SQL. */
function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

function makeSealingKey(): string {
  return `k1:${randomBytes(32).toString("base64")}`;
}

/** Generates new secrets. */
export function makeSecrets(): Secrets {
  return {
    ownerPassword: randomSecret(),
    rolePasswords: {
      accounts: randomSecret(),
      posts: randomSecret(),
      media: randomSecret(),
      delivery: randomSecret(),
    },
    internalSecret: randomSecret(),
    credentialKeys: makeSealingKey(),
    handleKeys: makeSealingKey(),
    mediaKey: randomSecret(),
    platformAppSecret: randomSecret(),
  };
}

/** Reads the secrets of earlier starts, and adds secrets that an older version did not generate. */
export function loadSecrets(file: string): Secrets {
  const stored = readJsonFile(file);
  const secrets = mergeSecrets(stored, makeSecrets());
  if (!isDeepStrictEqual(stored, secrets)) {
    writeJsonFile(file, secrets);
  }
  return secrets;
}

/** Merges stored secrets with the newly generated secrets `made`. Every stored secret of the right type is kept. */
export function mergeSecrets(stored: unknown, made: Secrets): Secrets {
  const kept = isRecord(stored) ? stored : {};
  const text = (value: unknown, otherwise: string): string =>
    typeof value === "string" && value !== "" ? value : otherwise;
  const passwords = isRecord(kept.rolePasswords) ? kept.rolePasswords : {};
  const rolePasswords = { ...made.rolePasswords };
  for (const service of databaseServices) {
    rolePasswords[service] = text(passwords[service], made.rolePasswords[service]);
  }
  return {
    ownerPassword: text(kept.ownerPassword, made.ownerPassword),
    rolePasswords,
    internalSecret: text(kept.internalSecret, made.internalSecret),
    credentialKeys: text(kept.credentialKeys, made.credentialKeys),
    handleKeys: text(kept.handleKeys, made.handleKeys),
    mediaKey: text(kept.mediaKey, made.mediaKey),
    platformAppSecret: text(kept.platformAppSecret, made.platformAppSecret),
    ...demoOf(kept.demo),
  };
}

function demoOf(value: unknown): Pick<Secrets, "demo"> {
  if (!isRecord(value)) {
    return {};
  }
  const { workspaceId, apiKey } = value;
  return typeof workspaceId === "string" && typeof apiKey === "string"
    ? { demo: { workspaceId, apiKey } }
    : {};
}

/** Stores the id of the demo workspace and its API key. */
export function saveDemo(
  file: string,
  secrets: Secrets,
  demo: { workspaceId: string; apiKey: string },
): void {
  writeJsonFile(file, { ...secrets, demo });
}

/** Removes the stored demo workspace, because its database was deleted. Encryption keys and passwords stay. */
export function forgetDemo(file: string): void {
  const stored = readJsonFile(file);
  if (isRecord(stored)) {
    const { demo: _, ...rest } = stored;
    writeJsonFile(file, rest);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
