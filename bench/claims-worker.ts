import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import { startEmbeddedPostgres } from "@postrider/local/embedded-postgres";
import { makeTestFolder } from "@postrider/local/test-folder";
import { newId } from "@postrider/shared/ids";
import { openSql } from "@postrider/shared/postgres";
import { migrateDatabase } from "@postrider/shared/postgres/migrate-command";
import { provisionDatabase } from "@postrider/shared/postgres/provision";
import { migrationDatabaseUrl, serviceDatabaseUrl } from "@postrider/shared/postgres/service-role";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { MIGRATIONS } from "../services/delivery/src/config.ts";
import { createHandleSealing } from "../services/delivery/src/publishing/db/handles.ts";
import { startClaimTasks } from "../services/delivery/src/publishing/jobs/claim-tasks.ts";
import { Spool } from "../services/delivery/src/publishing/storage/spool.ts";

type Sql = ReturnType<typeof openSql>;
type Connector = NonNullable<Parameters<typeof startClaimTasks>[0]["connectors"]["x"]>;

/**
 * A delivery worker inside the benchmark's process, with a Postgres of its own. It claims and publishes tasks once it is
 * started.
 */
export interface BenchWorker extends AsyncDisposable {
  readonly sql: Sql;
  start(): void;
  nudge(): void;
  /** Resolves when the delivery worker calls the platform for this target, which is one post on one account. */
  whenCalled(targetId: string): Promise<void>;
  /** Gives the publishing of these targets an additional step that takes `stepMs`. */
  slowDown(targetIds: readonly string[]): void;
  /** Number of calls that the delivery worker has made to platforms so far. */
  calls(): number;
}

interface Options {
  /** Duration of each platform call. */
  readonly callMs: number;
  readonly stepMs?: number;
}

const SETTINGS = {
  holdAfterUnknowns: 0,
  probeMs: [1_000],
  retryMs: [60_000],
  leaseMs: 60_000,
  accountPauseMs: [60_000],
  visibleCallMs: 60_000,
  reconcileTimeScale: 1,
  maxPerPlatform: 64,
  maxPerWorkspace: 32,
};

/** Creates stand-ins for the posts and accounts services that answer for every target and account. */
function createPeers() {
  const transport = createRouterTransport((router) => {
    router.service(TargetService, {
      batchGetTargetContents: ({ refs }) => ({
        contents: refs.map((ref) => ({ ref, wanted: true, text: `text ${ref.targetId}` })),
      }),
    });
    router.service(CredentialService, {
      batchGetCredentials: ({ refs }) => ({
        credentials: refs.map((ref) => ({
          ref,
          accountStatus: "active",
          externalId: ref.accountId,
          username: "bench",
          accessToken: "token",
          version: 1n,
        })),
      }),
    });
  });
  return {
    posts: createClient(TargetService, transport),
    accounts: {
      credentials: createClient(CredentialService, transport),
      accounts: createClient(AccountService, transport),
    },
  };
}

class Platform {
  count = 0;
  readonly slow = new Set<string>();
  readonly #options: Options;
  readonly #waiting = new Map<string, () => void>();

  constructor(options: Options) {
    this.#options = options;
  }

  whenCalled(targetId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(targetId, resolve);
    return promise;
  }

  connector(platform: "x" | "bluesky"): Connector {
    const { callMs, stepMs = 0 } = this.#options;
    const step = {
      name: "slow",
      isDone: () => false,
      run: async () => {
        await pause(stepMs);
        return {};
      },
    };
    return {
      platform,
      maxResends: 0,
      steps: ({ targetId }) => (this.slow.has(targetId) ? [step] : []),
      publish: async ({ targetId }, _handles, guard) => {
        if (!guard.mayStillSend()) return { kind: "not_sent" };
        this.count += 1;
        this.#waiting.get(targetId)?.();
        this.#waiting.delete(targetId);
        await pause(callMs);
        return { kind: "published", externalId: targetId, permalink: null };
      },
      reconcile: () => Promise.resolve({ kind: "cannot_tell", message: "" }),
      canDelete: false,
      delete: () => Promise.resolve({ kind: "deleted" }),
    };
  }
}

async function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  await promise;
}

async function openDatabase() {
  const folder = makeTestFolder("bench");
  const cluster = await startEmbeddedPostgres({ dataDir: join(folder, "data") });
  const role = { service: "delivery", password: "bench", migrationPassword: "bench" };
  await provisionDatabase(cluster.url, [role]);
  await migrateDatabase(migrationDatabaseUrl(cluster.url, role), MIGRATIONS);
  const url = serviceDatabaseUrl(cluster.url, role);
  const sql = openSql({ url, poolSize: 10, applicationName: "bench" });
  return {
    sql,
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 });
      await cluster[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Inserts the row that `PublishingGuard` would write when the first delivery process starts. */
async function insertDeployment(sql: Sql): Promise<void> {
  await sql`
    insert into deployment (system_identifier, database_oid, table_oid, timeline, deployment_id, seen_at)
    select c.system_identifier::text, d.oid::bigint, 'deployment'::regclass::oid::bigint,
      ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int, 'default', clock_timestamp()
    from pg_control_system() as c
    cross join pg_database as d
    where d.datname = current_database()`;
}

export async function startBenchWorker(options: Options): Promise<BenchWorker> {
  const database = await openDatabase();
  const { sql } = database;
  await insertDeployment(sql);
  const platform = new Platform(options);
  let claims: ReturnType<typeof startClaimTasks> | undefined;
  const start = (): void => {
    claims = startClaimTasks({
      sql,
      owner: newId(),
      logger: createLogger({ service: "bench", level: "error" }),
      onEvents: () => undefined,
      connectors: { x: platform.connector("x"), bluesky: platform.connector("bluesky") },
      ...createPeers(),
      guard: { isOwn: () => Promise.resolve(true) },
      media: {
        describe: () => {
          throw new Error("no post of the benchmark has media");
        },
        prepare: () => Promise.reject(new Error("no post of the benchmark has media")),
      },
      spool: new Spool({ folder: tmpdir(), maxBytes: 1_000 }),
      sealing: createHandleSealing([{ id: "k1", secret: Buffer.alloc(32, 7) }]),
      settings: SETTINGS,
      clocks: { monotonic: () => performance.now(), wall: () => Date.now() },
      random: Math.random,
    });
  };
  return {
    sql,
    start,
    nudge: () => claims?.nudge(),
    whenCalled: (targetId) => platform.whenCalled(targetId),
    slowDown: (targetIds) => targetIds.forEach((targetId) => platform.slow.add(targetId)),
    calls: () => platform.count,
    [Symbol.asyncDispose]: async () => {
      await claims?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
