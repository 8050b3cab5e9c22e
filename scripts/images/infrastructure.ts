import { rmSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../packages/local/src/embedded-postgres.ts";
import { startKafka } from "../../packages/local/src/kafka.ts";
import { startS3 } from "../../packages/local/src/s3.ts";
import { makeTestFolder } from "../../packages/local/src/test-folder.ts";
import { openSql } from "../../packages/shared/src/postgres.ts";

/** Postgres, Kafka and an S3 store on the loopback address. Disposing of it ends them. */
export interface Infrastructure extends AsyncDisposable {
  /** What compose calls each of them, and where it is here. */
  readonly places: Readonly<Record<"postgres:5432" | "kafka:9092" | "s3:7070", string>>;
}

/** Secrets of a deployment that its surroundings know too. */
export interface InfrastructureSecrets {
  readonly ownerPassword: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Starts what a deployment has in containers of others. */
export async function startInfrastructure(secrets: InfrastructureSecrets): Promise<Infrastructure> {
  await using stack = new AsyncDisposableStack();
  const folder = makeTestFolder("images");
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir: join(folder, "postgres") }));
  await makeOwner(postgres.url, secrets.ownerPassword);
  const kafka = stack.use(await startKafka({ dataDir: join(folder, "kafka") }));
  const s3 = stack.use(await startS3({ dataDir: join(folder, "s3"), keys: secrets }));
  const parts = stack.move();
  return {
    places: {
      "postgres:5432": `127.0.0.1:${postgres.port}`,
      "kafka:9092": `127.0.0.1:${kafka.port}`,
      "s3:7070": `127.0.0.1:${s3.port}`,
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** The user and the database that the image of Postgres makes by its variables. */
async function makeOwner(url: string, password: string): Promise<void> {
  const sql = openSql({ url, poolSize: 1, applicationName: "postrider-images" });
  try {
    await sql.unsafe(`create role postrider superuser login password '${password}'`);
    await sql.unsafe("create database postrider owner postrider");
  } finally {
    await sql.end({ timeout: 5 });
  }
}
