import { existsSync } from "node:fs";
import { prepareDatabase } from "@postrider/local/stack/database";
import { loadSecrets, type Secrets } from "@postrider/local/stack/secrets";
import { openSql } from "@postrider/shared/postgres";
import { untilItAnswers, type WaitOptions } from "@postrider/shared/postgres/until-it-answers";

export interface DatabaseOptions extends WaitOptions {
  readonly url: string;
  readonly secretsFile: string;
  /** Makes new secrets although the database has data. */
  readonly newSecrets: boolean;
}

/**
 * Loads the secrets, or makes them at the first start, and brings roles and schemas up to date. Two
 * at once are safe: each migration holds a lock. Waits for a Postgres that does not answer yet.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Secrets> {
  return await untilItAnswers(async () => {
    if (!existsSync(options.secretsFile) && !options.newSecrets)
      await assertEmpty(options.url, options.secretsFile);
    const secrets = loadSecrets(options.secretsFile);
    await prepareDatabase(options.url, secrets);
    return secrets;
  }, options);
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
