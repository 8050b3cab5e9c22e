import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { SealingStage } from "#src/db/sealing-stage.ts";
import type { AccountsApp } from "./accounts-app.ts";

const ALGORITHM = "aes-256-gcm";

/** A token and its storage place, as the previous release knows it. */
interface PreviousPlace {
  readonly accountId: string;
  readonly column: "access_token" | "refresh_token";
}

function associatedData({ accountId, column }: PreviousPlace, keyId: string): Buffer {
  return Buffer.from(["credentials", accountId, column, keyId].join("|"));
}

/** Encrypts a token exactly as the previous release does. */
export function sealAsBefore(key: SealingKey, place: PreviousPlace, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv(ALGORITHM, key.secret, nonce);
  cipher.setAAD(associatedData(place, key.id));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const parts = [nonce, ciphertext, cipher.getAuthTag()].map((each) => each.toString("base64url"));
  return ["v1", key.id, ...parts].join(".");
}

/**
 * Decrypts a token exactly as the previous release does.
 *
 * @throws Error `missing` when the key is missing, so that the previous release answers `unavailable`, or `broken` when it
 *   would require a reconnect of the account.
 */
export function unsealAsBefore(key: SealingKey, place: PreviousPlace, sealed: string): string {
  const [version, keyId = "", ...parts] = sealed.split(".");
  if (version !== "v1") throw new Error("broken");
  if (keyId !== key.id) throw new Error("missing");
  const [nonce, ciphertext, tag] = parts.map((part) => Buffer.from(part, "base64url"));
  try {
    const decipher = createDecipheriv(ALGORITHM, key.secret, nonce ?? Buffer.alloc(12));
    decipher.setAAD(associatedData(place, keyId));
    decipher.setAuthTag(tag ?? Buffer.alloc(16));
    const text = decipher.update(ciphertext ?? Buffer.alloc(0));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    throw new Error("broken");
  }
}

/**
 * Changes the database to one that was updated from the previous release (stage `unbound`), or to one in a later
 * encryption stage. Only the migration role may change the stage back.
 */
export async function setStage(migrationSql: Sql, stage: SealingStage): Promise<void> {
  await migrationSql`update sealing set stage = ${stage}`;
}

export async function stageOf(sql: Sql): Promise<SealingStage | undefined> {
  const [row] = await sql<{ stage: SealingStage }[]>`select stage from sealing`;
  return row?.stage;
}

/** Calls ResealCredentials for all pages of credentials, as `postrider credentials reseal` does. */
export async function resealAll(app: AccountsApp) {
  for (let after = ""; ;) {
    const answer = await app.credentials.resealCredentials({ after });
    if (answer.after === "") return answer;
    ({ after } = answer);
  }
}
