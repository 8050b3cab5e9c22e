import { join } from "node:path";
import { startEmbeddedPostgres } from "../../packages/local/src/embedded-postgres.ts";
import { startKafka } from "../../packages/local/src/kafka.ts";
import { startS3 } from "../../packages/local/src/s3.ts";
import { makeTestFolder } from "../../packages/local/src/test-folder.ts";
import { openSql } from "../../packages/shared/src/postgres.ts";
import type { Variables } from "./compose-file.ts";

/** Postgres, Kafka and an S3 store on the loopback address. Disposing of it ends them. */
export interface Infrastructure extends AsyncDisposable {
  /** What compose calls each of them, and where it is here. */
  readonly places: Readonly<Record<"postgres:5432" | "kafka:9092" | "s3:7070", string>>;
}

/** Starts what compose.yaml has in containers of others, with the secrets that it would have. */
export async function startInfrastructure(env: Variables): Promise<Infrastructure> {
  await using stack = new AsyncDisposableStack();
  const folder = makeTestFolder("images");
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir: join(folder, "postgres") }));
  await makeOwner(postgres.url, env.OWNER_DATABASE_PASSWORD ?? "");
  const kafka = stack.use(await startKafka({ dataDir: join(folder, "kafka") }));
  const keys = {
    accessKeyId: env.S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? "",
  };
  const s3 = stack.use(await startS3({ dataDir: join(folder, "s3"), keys }));
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
