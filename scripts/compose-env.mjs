// Writes the settings that compose.yaml requires, with fresh secrets: node scripts/compose-env.mjs
// [file] The file is .env unless another one is named. This is plain JavaScript without
// dependencies, because it runs before anything is installed, on Node 20 or newer.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";

const secret = () => randomBytes(32).toString("base64url");
const sealingKey = () => `k${randomBytes(3).toString("hex")}:${randomBytes(32).toString("base64")}`;

// The keys with which the services and the operator's tool prove to each other who they are.
const names = ["gateway", "accounts", "posts", "media", "delivery", "operator"];
const identities = names.map((name) => {
  const { d: privateKey, x: publicKey } = generateKeyPairSync("ed25519").privateKey.export({
    format: "jwk",
  });
  return { name, privateKey, publicKey };
});

const settings = {
  // Without deploy/compose/simulator.yaml Postrider publishes to the real platforms.
  COMPOSE_FILE: "compose.yaml:deploy/compose/simulator.yaml",
  OWNER_DATABASE_PASSWORD: secret(),
  ACCOUNTS_DATABASE_PASSWORD: secret(),
  POSTS_DATABASE_PASSWORD: secret(),
  MEDIA_DATABASE_PASSWORD: secret(),
  DELIVERY_DATABASE_PASSWORD: secret(),
  ACCOUNTS_MIGRATION_PASSWORD: secret(),
  POSTS_MIGRATION_PASSWORD: secret(),
  MEDIA_MIGRATION_PASSWORD: secret(),
  DELIVERY_MIGRATION_PASSWORD: secret(),
  ...Object.fromEntries(
    identities.map(({ name, privateKey }) => [`${name.toUpperCase()}_IDENTITY_KEYS`, privateKey]),
  ),
  TRUSTED_IDENTITIES: identities.map(({ name, publicKey }) => `${name}:${publicKey}`).join(","),
  CREDENTIAL_KEYS: sealingKey(),
  HANDLE_KEYS: sealingKey(),
  MEDIA_KEY: secret(),
  S3_ACCESS_KEY_ID: `PR${randomBytes(9).toString("hex").toUpperCase()}`,
  S3_SECRET_ACCESS_KEY: secret(),
};

const [file = ".env"] = process.argv.slice(2);
const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
try {
  // The keys decrypt data in the database, so an existing file is never replaced.
  writeFileSync(file, lines.join(""), { mode: 0o600, flag: "wx" });
} catch (error) {
  const why =
    error.code === "EEXIST"
      ? `${file} exists and its keys may be in use; choose another file, or move it away first`
      : error.message;
  process.stderr.write(`compose-env: ${why}\n`);
  process.exit(1);
}
