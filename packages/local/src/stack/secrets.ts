import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { makeIdentityKeys, type IdentityKeyTexts } from "@postrider/shared/identity/identity-keys";
import { toIdentity, type OwnIdentity } from "@postrider/shared/identity/settings";
import { isObject } from "@postrider/shared/is-object";
import { makeSealingKey } from "@postrider/shared/secrets/sealing";
import { readJsonFile, writeJsonFile } from "#src/processes/json-file.ts";
import { type DatabaseService, databaseServices } from "#src/stack/services.ts";

export interface Secrets {
  readonly ownerPassword: string;
  readonly rolePasswords: Readonly<Record<DatabaseService, string>>;
  /** Passwords of the migration roles, which no service is given. */
  readonly migrationPasswords: Readonly<Record<DatabaseService, string>>;
  readonly identityKeys: IdentityKeyTexts;
  /** As `id:base64`, the newest first. */
  readonly credentialKeys: string;
  /** As `id:base64`, the newest first, for ids and URLs that platforms return meanwhile. */
  readonly handleKeys: string;
  readonly mediaKey: string;
  readonly platformAppSecret: string;
  /** Absent until they are created. */
  readonly demo?: { readonly workspaceId: string; readonly apiKey: string };
}

/** Returns 256 random bits as text that needs no escaping in URLs, shells and SQL. */
function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

function makePasswords(): Record<DatabaseService, string> {
  const entries = databaseServices.map((service) => [service, randomSecret()]);
  return Object.fromEntries(entries) as Record<DatabaseService, string>;
}

export function makeSecrets(): Secrets {
  return {
    ownerPassword: randomSecret(),
    rolePasswords: makePasswords(),
    migrationPasswords: makePasswords(),
    identityKeys: makeIdentityKeys(),
    credentialKeys: makeSealingKey(),
    handleKeys: makeSealingKey(),
    mediaKey: randomSecret(),
    platformAppSecret: randomSecret(),
  };
}

export function operatorIdentity({ identityKeys }: Secrets): OwnIdentity {
  const identity = toIdentity("operator", identityKeys.operator.split(","));
  if (identity === undefined)
    throw new Error("the stored key of the operator is invalid; delete identityKeys.operator");
  return identity;
}

const REMEDY =
  "correct it, or restore the file from a backup. It has the only keys of the stored tokens, so it is never replaced";

/**
 * Adds secrets that an older version did not generate.
 *
 * @throws When a stored secret would be replaced or dropped: by a person's slip it looks missing.
 */
export function loadSecrets(file: string): Secrets {
  const stored = readJsonFile(file, REMEDY);
  const fault = stored === undefined ? undefined : findFault(stored, makeSecrets());
  if (fault !== undefined) throw new Error(`${file}: ${fault}; ${REMEDY}`);
  const secrets = mergeSecrets(stored, makeSecrets());
  if (!isDeepStrictEqual(stored, secrets)) writeJsonFile(file, secrets, { flush: true });

  return secrets;
}

/** What is wrong with stored secrets; undefined if each can be kept. */
function findFault(stored: unknown, made: object, place = ""): string | undefined {
  if (!isObject(stored)) return `${place === "" ? "the content" : place} is not an object`;
  const at = (name: string) => (place === "" ? name : `${place}.${name}`);
  const given = Object.entries(made).filter(([name]) => stored[name] !== undefined);
  for (const [name, value] of given as [string, unknown][]) {
    const fault = isObject(value)
      ? findFault(stored[name], value, at(name))
      : findTextFault(stored[name], at(name));
    if (fault !== undefined) return fault;
  }
  const missing = Object.keys(made).find((name) => stored[name] === undefined);
  const unknown = Object.keys(stored).find((name) => !(name in made) && name !== "demo");
  // A newer version may have added the unknown one, but then this one misses none.
  return missing === undefined || unknown === undefined
    ? undefined
    : `${at(missing)} is missing, and ${at(unknown)} is unknown`;
}

function findTextFault(value: unknown, place: string): string | undefined {
  return typeof value === "string" && value !== "" ? undefined : `${place} is not a text in quotes`;
}

/** Every stored secret is kept, also one of a newer version. */
export function mergeSecrets(stored: unknown, made: Secrets): Secrets {
  const { demo, ...rest } = isObject(stored) ? stored : {};
  return { ...keepTexts(rest, made), ...demoOf(demo) };
}

function keepTexts<T extends object>(stored: unknown, made: T): T {
  const kept = isObject(stored) ? stored : {};
  const entries = Object.entries(made).map(([name, value]: [string, unknown]) => {
    const old = kept[name];
    return [name, isObject(value) ? keepTexts(old, value) : (old ?? value)];
  });
  return { ...kept, ...Object.fromEntries(entries) } as T;
}

function demoOf(value: unknown): Pick<Secrets, "demo"> {
  if (!isObject(value)) return {};

  const { workspaceId, apiKey } = value;
  return typeof workspaceId === "string" && typeof apiKey === "string"
    ? { demo: { workspaceId, apiKey } }
    : {};
}

export function saveDemo(
  file: string,
  secrets: Secrets,
  demo: { workspaceId: string; apiKey: string },
): void {
  writeJsonFile(file, { ...secrets, demo }, { flush: true });
}

/** Its database was deleted. Encryption keys and passwords stay. */
export function forgetDemo(file: string): void {
  const stored = readJsonFile(file);
  if (isObject(stored)) {
    const { demo: _, ...rest } = stored;
    writeJsonFile(file, rest, { flush: true });
  }
}
