import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { makeIdentityKeys, toTrustedIdentities } from "@postrider/shared/identity/identity-keys";
import { IDENTITY_NAMES } from "@postrider/shared/identity/names";
import {
  migrationDatabaseUrl,
  serviceDatabaseUrl,
  webhooksDatabaseUrl,
} from "@postrider/shared/postgres/service-role";
import { makeSealingKey } from "@postrider/shared/secrets/sealing";
import { getText, type Arguments, type Command, type Result } from "#src/command.ts";
import { loadOwnerUrl, SERVICES } from "#src/config.ts";
import { CommandFailure } from "#src/failures.ts";

/** The name of each Secret of `deploy/k8s`, with its values. */
type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

const NAMESPACE = "postrider";

const makePassword = (): string => randomBytes(32).toString("base64url");

function makeIdentities(): Secrets {
  const keys = makeIdentityKeys();
  return {
    ...Object.fromEntries(
      IDENTITY_NAMES.map((name) => [`${name}-identity`, { IDENTITY_KEYS: keys[name] }]),
    ),
    "trusted-identities": { TRUSTED_IDENTITIES: toTrustedIdentities(keys) },
  };
}

/** The passwords for `database provision`, and the connections of the roles that it creates. */
function makeDatabaseSecrets(ownerUrl: string): Secrets {
  const roles = SERVICES.map((service) => ({
    service,
    password: makePassword(),
    migrationPassword: makePassword(),
  }));
  const passwords = roles.flatMap(({ service, password, migrationPassword }) => [
    [`${service.toUpperCase()}_DATABASE_PASSWORD`, password],
    [`${service.toUpperCase()}_MIGRATION_PASSWORD`, migrationPassword],
  ]);
  const connections = roles.flatMap((role) => [
    [`${role.service}-database`, { DATABASE_URL: serviceDatabaseUrl(ownerUrl, role) }],
    [
      `${role.service}-migration-database`,
      { MIGRATION_DATABASE_URL: migrationDatabaseUrl(ownerUrl, role) },
    ],
  ]);
  const webhooks = makePassword();
  return {
    "database-roles": {
      DATABASE_URL: ownerUrl,
      ...Object.fromEntries(passwords),
      DELIVERY_WEBHOOKS_DATABASE_PASSWORD: webhooks,
    },
    ...Object.fromEntries(connections),
    "delivery-webhooks-database": {
      DATABASE_URL: webhooksDatabaseUrl(ownerUrl, "delivery", webhooks),
    },
  };
}

/** JSON is YAML too, and needs no rules for quoting. */
function format(secrets: Secrets): string {
  return Object.entries(secrets)
    .map(([name, stringData]) => {
      const metadata = { name, namespace: NAMESPACE };
      return `---\n${JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata, stringData })}\n`;
    })
    .join("");
}

/**
 * The keys are in a file before any other system knows them, so a later step that fails loses none.
 * An existing file is kept, because its keys may be in use.
 */
function writeNewFile(file: string, content: string): void {
  try {
    writeFileSync(file, content, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw exists
      ? new CommandFailure(
          "already_exists",
          `${file} exists and its keys may be in use; choose another file, or move it away first`,
        )
      : error;
  }
}

function create(args: Arguments): Promise<Result> {
  const file = getText(args, "out");
  const secrets: Secrets = {
    ...makeIdentities(),
    ...makeDatabaseSecrets(loadOwnerUrl()),
    "postrider-media-key": { MEDIA_KEY: makePassword() },
    "accounts-credential-keys": { CREDENTIAL_KEYS: makeSealingKey() },
    "delivery-handle-keys": { HANDLE_KEYS: makeSealingKey() },
  };
  writeNewFile(file, format(secrets));
  const names = Object.keys(secrets);
  const text = `${file} has ${names.length} Secrets; keep a copy in your secret store, and create them with \`kubectl create -f ${file}\``;
  return Promise.resolve({ json: { file, secrets: names }, text });
}

export const secretCommands: readonly Command[] = [
  {
    words: "secrets create",
    synopsis: "--out FILE",
    summary:
      "write the Kubernetes Secrets of a new installation, with new keys and passwords, to a new file that only its owner can read; needs DATABASE_URL of the database owner; calls no service",
    run: (_services, args) => create(args),
  },
];
