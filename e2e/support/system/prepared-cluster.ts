import { rmSync } from "node:fs";
import { startEmbeddedPostgres } from "@postrider/local/postgres/embedded-postgres";
import { readJsonFile, writeJsonFile } from "@postrider/local/processes/json-file";
import { prepareDatabase } from "@postrider/local/stack/database";
import { layoutOf } from "@postrider/local/stack/layout";
import { makeSecrets } from "@postrider/local/stack/secrets";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { copyCluster } from "./backup.ts";

export interface PreparedCluster extends Disposable {
  readonly dataDir: string;
}

/** A stopped Postgres with the roles and the empty schemas of all services. */
export async function prepareCluster(): Promise<PreparedCluster> {
  const dataDir = makeTestFolder("prepared");
  const { postgres, secretsFile } = layoutOf(dataDir);
  const secrets = makeSecrets();
  const { ownerPassword, rolePasswords, migrationPasswords } = secrets;
  await using server = await startEmbeddedPostgres({ dataDir: postgres, password: ownerPassword });
  await prepareDatabase(server.url, secrets);
  writeJsonFile(secretsFile, { ownerPassword, rolePasswords, migrationPasswords });
  return { dataDir, [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
}

/**
 * Lets a stack begin with a copy of the cluster and its passwords, because to create the cluster
 * takes a third of the processor time of a start. All other secrets remain the stack's own.
 */
export async function copyPrepared(from: string, to: string): Promise<void> {
  const [source, target] = [layoutOf(from), layoutOf(to)];
  await copyCluster(source.postgres, target.postgres);
  writeJsonFile(target.secretsFile, readJsonFile(source.secretsFile));
}
