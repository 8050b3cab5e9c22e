import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { prepareDatabase } from "@postrider/local/stack/database";
import { loadSecrets, type Secrets } from "@postrider/local/stack/secrets";
import { isInfrastructureError, openSql } from "@postrider/shared/postgres";

const RETRY_MS = 1_000;

/** Roles, passwords and databases that are wrong stay wrong: the operator has to know. */
const STAYS = /^(?:28|3D|42)/;

export interface DatabaseOptions {
  readonly url: string;
  readonly secretsFile: string;
  /** Makes new secrets although the database has data. */
  readonly newSecrets: boolean;
  readonly onWait: (reason: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Loads the secrets, or makes them at the first start, and brings roles and schemas up to date. Two
 * at once are safe: each migration holds a lock. Waits for a Postgres that does not answer yet.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Secrets> {
  return await untilItAnswers(options, async () => {
    if (!existsSync(options.secretsFile) && !options.newSecrets)
      await assertEmpty(options.url, options.secretsFile);
    const secrets = loadSecrets(options.secretsFile);
    await prepareDatabase(options.url, secrets);
    return secrets;
  });
}

/** New keys could not decrypt what the database has, and new passwords would lock others out. */
async function assertEmpty(url: string, file: string): Promise<void> {
  const sql = openSql({ url, poolSize: 1, applicationName: "postrider-serve" });
  try {
    const [row] = await sql<{ isUsed: boolean }[]>`
      select to_regnamespace('accounts') is not null as "isUsed"`;
    if (row?.isUsed === true)
      throw new Error(
        `the database has the data of Postrider, but ${file}, which has the keys of this data, is missing: restore it from your backup, or set POSTRIDER_DATA_DIR to its folder. To give up the connections of all accounts instead, see docs/one-server.md`,
      );
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function untilItAnswers<T>(options: DatabaseOptions, work: () => Promise<T>): Promise<T> {
  let told = "";
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const reason = reasonToWait(error);
      if (reason === undefined) throw error;
      if (reason !== told) options.onWait(reason);
      told = reason;
      await sleep(RETRY_MS, undefined, { signal: options.signal }).catch(() => {});
    }
  }
}

function reasonToWait(error: unknown): string | undefined {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!isInfrastructureError(cause) || !(cause instanceof Error)) return undefined;
  const code = "code" in cause ? String(cause.code) : "";
  return STAYS.test(code) ? undefined : cause.message || code;
}
