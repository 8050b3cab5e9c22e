import fastify, { type FastifyInstance } from "fastify";
import type { Sql } from "#src/postgres.ts";
import { neededSchemaVersion, currentSchemaVersion } from "#src/postgres/migrations.ts";
import { createGauge, renderMetrics } from "#src/telemetry/metrics.ts";

/** Resolves when the thing is in order and rejects with a short reason when it is not. */
export type Check = () => Promise<void>;

/** Leaves a route out of the API description. */
const HIDDEN: object = { hide: true };

const CHECK_TIMEOUT_MS = 500;
const MAX_CLOCK_SKEW_MS = 30_000;
/** Nobody asks this port for anything that is long. */
const OPS_REQUEST_MS = 5_000;

const readyGauge = createGauge("postrider_ready", "1 while the process can work, as on `/readyz`.");

/** Readiness of one process: its checks, and a switch that turns it off for good while it drains. */
export interface Health {
  readonly checks: Map<string, Check>;
  drain(): void;
  isDraining(): boolean;
}

export function createHealth(): Health {
  let draining = false;
  return { checks: new Map(), drain: () => void (draining = true), isDraining: () => draining };
}

/** The database answers, has the schema that this build needs, and its clock is within 30 s of ours. */
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
    const [row] = await sql<{ now: Date }[]>`select now() as now`;
    const skewMs = Math.abs(Date.now() - (row?.now.getTime() ?? 0));
    if (skewMs > MAX_CLOCK_SKEW_MS)
      throw new Error(`clock is ${Math.round(skewMs / 1000)} s off the database's`);
  };
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

/** Runs all checks at once. */
export async function readHealth(
  health: Health,
): Promise<{ readonly ready: boolean; readonly checks: Record<string, string> }> {
  const names = [...health.checks.keys()];
  const results = await Promise.all([...health.checks.values()].map(runCheck));
  const checks = Object.fromEntries(names.map((name, index) => [name, results[index] ?? "failed"]));
  if (health.isDraining()) checks.draining = "draining";
  return { ready: Object.values(checks).every((result) => result === "ok"), checks };
}

/** `/livez` (the loop turns) and `/readyz` on a server that has other routes too. */
export function addProbes(app: FastifyInstance, health: Health): void {
  app.get("/livez", { schema: HIDDEN }, () => ({ status: "ok" }));
  app.get("/readyz", { schema: HIDDEN }, async (_request, reply) => {
    const { ready, checks } = await readHealth(health);
    return await reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? "ok" : "unavailable", checks });
  });
}

/** The internal port: probes and Prometheus metrics, never exposed to clients. */
export function createOpsServer(health: Health): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: 1_024,
    requestTimeout: OPS_REQUEST_MS,
    http: { headersTimeout: OPS_REQUEST_MS, connectionsCheckingInterval: OPS_REQUEST_MS },
  });
  addProbes(app, health);
  app.get("/metrics", async (_request, reply) => {
    // Asked now and not when somebody last probed: Prometheus may be the only one that looks.
    readyGauge.set((await readHealth(health)).ready ? 1 : 0);
    const { contentType, body } = await renderMetrics();
    return await reply.type(contentType).send(body);
  });
  return app;
}
