// Writes the settings that compose.yaml asks for, with fresh secrets: node scripts/compose-env.mjs [file, else .env]
// Plain JavaScript without dependencies: it runs before anything is installed, on any Node from 20 on.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";

const secret = () => randomBytes(32).toString("base64url");
const sealingKey = () => `k1:${randomBytes(32).toString("base64")}`;

const settings = {
  // Without its second file compose publishes to the real platforms.
  COMPOSE_FILE: "compose.yaml:deploy/compose/simulator.yaml",
  OWNER_DATABASE_PASSWORD: secret(),
  ACCOUNTS_DATABASE_PASSWORD: secret(),
  POSTS_DATABASE_PASSWORD: secret(),
  MEDIA_DATABASE_PASSWORD: secret(),
  DELIVERY_DATABASE_PASSWORD: secret(),
  INTERNAL_SECRET: secret(),
  CREDENTIAL_KEYS: sealingKey(),
  HANDLE_KEYS: sealingKey(),
  MEDIA_KEY: secret(),
  S3_ACCESS_KEY_ID: `PR${randomBytes(9).toString("hex").toUpperCase()}`,
  S3_SECRET_ACCESS_KEY: secret(),
};

const [file = ".env"] = process.argv.slice(2);
const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
try {
  // The keys open what is in the database: a file that is there is never replaced.
  writeFileSync(file, lines.join(""), { mode: 0o600, flag: "wx" });
} catch (error) {
  const why =
    error.code === "EEXIST" ? `${file} is there already and was left alone` : error.message;
  process.stderr.write(`compose-env: ${why}\n`);
  process.exit(1);
}
