import fastify, { type FastifyInstance } from "fastify";
import type { Sql } from "#src/postgres.ts";
import { readClock } from "#src/postgres/clock.ts";
import { recentSkewMs } from "#src/postgres/due-loop.ts";
import { neededSchemaVersion, currentSchemaVersion } from "#src/postgres/migrations.ts";
import type { PoolState } from "#src/postgres/pool-wait.ts";
import { createGauge, renderMetrics } from "#src/telemetry/metrics.ts";

/** Rejects with a short reason when the dependency is not healthy. */
export type Check = () => Promise<void>;

/** Omits a route from the API description. */
const HIDDEN: object = { hide: true };

const CHECK_TIMEOUT_MS = 500;
const MAX_CLOCK_SKEW_MS = 30_000;
/** Requests on the internal port are short. */
const OPS_REQUEST_MS = 5_000;

const readyGauge = createGauge("postrider_ready", "1 while the process can work, as on `/readyz`.");

/** Health checks, and a switch that makes the process not ready while it stops. */
export interface Health {
  readonly checks: Map<string, Check>;
  /** Facts for the answer of `/readyz`, by name. A note that returns undefined is left out. */
  readonly notes: Map<string, () => string | undefined>;
  /** Unless it is free, RPCs are refused: of the largest callers, or all. */
  readPool(): PoolState;
  drain(): void;
  isDraining(): boolean;
}

export function createHealth(): Health {
  let draining = false;
  return {
    checks: new Map(),
    notes: new Map(),
    readPool: () => "free",
    drain: () => void (draining = true),
    isDraining: () => draining,
  };
}

/** Also that the clock is within 30 s of ours. Sends no statement while loops ask for due work. */
export function createDatabaseCheck(sql: Sql, migrationsFolder: string): Check {
  const needed = neededSchemaVersion(migrationsFolder);
  let migrated = false;
  return async () => {
    if (!migrated) {
      const version = await currentSchemaVersion(sql);
      if (version < needed)
        throw new Error(`schema version ${version}, this build needs ${needed}`);
      migrated = true;
    }
    const askSkewMs = async () => Date.now() - (await readClock(sql)).getTime();
    const skewMs = Math.abs(recentSkewMs(sql) ?? (await askSkewMs()));
    if (skewMs > MAX_CLOCK_SKEW_MS)
      throw new Error(`clock is ${Math.round(skewMs / 1000)} s off the database's`);
  };
}

/**
 * Until another service has answered once. The network of a new pod may not reach it for some
 * seconds. What fails later does not count, or all gateways would go out with accounts.
 */
export function createFirstAnswerCheck(ask: () => Promise<unknown>): Check {
  let hasAnswered = false;
  return async () => {
    if (hasAnswered) return;
    // The cause may name addresses of the internal network, and the gateway's probes are public.
    await ask().catch((cause: unknown) => {
      throw new Error("has not answered yet", { cause });
    });
    hasAnswered = true;
  };
}

/** Maximum time since a process last looked for work. */
const MAX_LOOK_AGE_MS = 10_000;

/** `work`: a plural noun. */
export function createLookCheck(work: string, ageMs: () => number): Check {
  return () =>
    ageMs() < MAX_LOOK_AGE_MS
      ? Promise.resolve()
      : Promise.reject(
          new Error(
            `this process has not looked for ${work} for over 10 s; check its log for database errors`,
          ),
        );
}

async function runCheck(check: Check): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve("no answer in time"), CHECK_TIMEOUT_MS);
  check().then(
    () => resolve("ok"),
    (error: unknown) => resolve(error instanceof Error ? error.message : "failed"),
  );
  const result = await promise;
  clearTimeout(timer);
  return result;
}

export async function readHealth(
  health: Health,
): Promise<{ readonly ready: boolean; readonly checks: Record<string, string> }> {
  const names = [...health.checks.keys()];
  const results = await Promise.all([...health.checks.values()].map(runCheck));
  const checks = Object.fromEntries(names.map((name, index) => [name, results[index] ?? "failed"]));
  if (health.isDraining()) checks.draining = "draining";
  return { ready: Object.values(checks).every((result) => result === "ok"), checks };
}

function readNotes({ notes }: Health): { readonly notes?: Record<string, string> } {
  const found = [...notes].flatMap(([name, read]) => {
    const note = read();
    return note === undefined ? [] : [[name, note] as const];
  });
  return found.length === 0 ? {} : { notes: Object.fromEntries(found) };
}

/** `/livez`: the event loop runs. */
export function addProbes(app: FastifyInstance, health: Health): void {
  app.get("/livez", { schema: HIDDEN }, () => ({ status: "ok" }));
  app.get("/readyz", { schema: HIDDEN }, async (_request, reply) => {
    const { ready, checks } = await readHealth(health);
    return await reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? "ok" : "unavailable", checks, ...readNotes(health) });
  });
}

/** Probes and Prometheus metrics, never exposed to clients. */
export function createOpsServer(health: Health): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: 1_024,
    requestTimeout: OPS_REQUEST_MS,
    http: { headersTimeout: OPS_REQUEST_MS, connectionsCheckingInterval: OPS_REQUEST_MS },
  });
  addProbes(app, health);
  app.get("/metrics", async (_request, reply) => {
    // Prometheus may be the only client that checks readiness.
    readyGauge.set((await readHealth(health)).ready ? 1 : 0);
    const { contentType, body } = await renderMetrics();
    return await reply.type(contentType).send(body);
  });
  return app;
}
