import fastify, { type FastifyInstance } from "fastify";
import type { Sql } from "#src/postgres.ts";
import { neededSchemaVersion, currentSchemaVersion } from "#src/postgres/migrations.ts";
import { createGauge, renderMetrics } from "#src/telemetry/metrics.ts";

/**
 * A health check of a dependency. It resolves when the dependency is healthy, and rejects with a short reason when it
 * is not.
 */
export type Check = () => Promise<void>;

/** Route option that omits a route from the API description. */
const HIDDEN: object = { hide: true };

const CHECK_TIMEOUT_MS = 500;
const MAX_CLOCK_SKEW_MS = 30_000;
/** Maximum time to receive a request on the internal port, where all requests are short. */
const OPS_REQUEST_MS = 5_000;

const readyGauge = createGauge("postrider_ready", "1 while the process can work, as on `/readyz`.");

/** Readiness of a process: its health checks, and a switch that makes it permanently not ready while it stops. */
export interface Health {
  readonly checks: Map<string, Check>;
  /**
   * Facts about a process that is ready, by name, for the answer of `/readyz`. A note that returns undefined is left out.
   */
  readonly notes: Map<string, () => string | undefined>;
  /** Whether the process is overloaded and therefore refuses RPCs. */
  isOverloaded(): boolean;
  drain(): void;
  isDraining(): boolean;
}

export function createHealth(): Health {
  let draining = false;
  return {
    checks: new Map(),
    notes: new Map(),
    isOverloaded: () => false,
    drain: () => void (draining = true),
    isDraining: () => draining,
  };
}

/** Checks that the database answers, has the schema that this build requires, and has a clock within 30 s of ours. */
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

/**
 * Maximum time in milliseconds since a process last looked for work. When more time has passed, the process reports
 * that it is not ready.
 */
const MAX_LOOK_AGE_MS = 10_000;

/**
 * Creates a readiness check that fails when the process has not looked for work for over 10 s, although it is running.
 *
 * @param work What the process looks for, as a plural noun.
 * @param ageMs Returns the milliseconds since the process last looked for work.
 */
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

/** Runs all health checks in parallel. */
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

/** Adds the health probes `/livez` (the event loop runs) and `/readyz` to a server. */
export function addProbes(app: FastifyInstance, health: Health): void {
  app.get("/livez", { schema: HIDDEN }, () => ({ status: "ok" }));
  app.get("/readyz", { schema: HIDDEN }, async (_request, reply) => {
    const { ready, checks } = await readHealth(health);
    return await reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? "ok" : "unavailable", checks, ...readNotes(health) });
  });
}

/** Creates the server on the internal port: health probes and Prometheus metrics, never exposed to clients. */
export function createOpsServer(health: Health): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: 1_024,
    requestTimeout: OPS_REQUEST_MS,
    http: { headersTimeout: OPS_REQUEST_MS, connectionsCheckingInterval: OPS_REQUEST_MS },
  });
  addProbes(app, health);
  app.get("/metrics", async (_request, reply) => {
    // Readiness is measured whenever the metrics are read, because Prometheus may be the only client that checks it.
    readyGauge.set((await readHealth(health)).ready ? 1 : 0);
    const { contentType, body } = await renderMetrics();
    return await reply.type(contentType).send(body);
  });
  return app;
}
