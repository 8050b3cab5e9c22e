import type { Bus } from "#src/bus.ts";
import { describeHold, type DeploymentGuard } from "#src/deployment/guard.ts";
import type { DiagnosticCheck } from "#src/diagnostics/finding.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import { outboxFloorOf } from "#src/outbox/floor.ts";
import type { Sql } from "#src/postgres.ts";
import { readClock } from "#src/postgres/clock.ts";
import { currentSchemaVersion, neededSchemaVersion } from "#src/postgres/migrations.ts";

const GUIDE = "operations.md";
/** Difference of the clocks above which the check warns. */
export const MAX_SKEW_MS = 5_000;
/** An older event means that events do not reach the bus. */
const MAX_EVENT_AGE_MS = 60_000;

/** What every service needs for the checks of its database, its clock and its event bus. */
export interface ServiceCheckOptions {
  readonly sql: Sql;
  readonly migrations: string;
  readonly bus: () => Bus | undefined;
  readonly guard: DeploymentGuard;
}

export function createServiceChecks(options: ServiceCheckOptions): readonly DiagnosticCheck[] {
  const { sql, migrations, bus, guard } = options;
  return [
    {
      name: "database",
      remedy: "check DATABASE_URL and whether Postgres runs",
      guide: GUIDE,
      run: () => checkDatabase(sql, migrations),
    },
    {
      name: "clock and database",
      remedy: "check DATABASE_URL and whether Postgres runs",
      guide: GUIDE,
      run: () => checkClock(sql),
    },
    {
      name: "bus",
      remedy: "check BUS, KAFKA_BROKERS and whether the topics exist (`postrider topics create`)",
      guide: GUIDE,
      run: () => checkBus(sql, bus(), guard),
    },
    {
      name: "owner of the data",
      remedy: "check DATABASE_URL and whether Postgres runs",
      guide: GUIDE,
      run: () => checkOwner(guard),
    },
  ];
}

async function checkDatabase(sql: Sql, migrations: string) {
  const [version, needed] = [await currentSchemaVersion(sql), neededSchemaVersion(migrations)];
  const found = `the database answers with schema version ${version}; this release needs ${needed}`;
  return version < needed
    ? ({ status: "failed", found, remedy: "run the service's migration command" } as const)
    : ({ status: "ok", found } as const);
}

async function checkClock(sql: Sql) {
  const before = Date.now();
  const now = await readClock(sql);
  // `now` was read between `before` and `Date.now()`: the clocks differ only if it lies outside of
  // them.
  const skewMs = Math.max(before - now.getTime(), now.getTime() - Date.now(), 0);
  const found = `the clock of the process differs from the database's by ${skewMs} ms`;
  return skewMs > MAX_SKEW_MS
    ? ({
        status: "failed",
        found,
        remedy: "synchronize the clocks of all machines, for example with chrony",
      } as const)
    : ({ status: "ok", found } as const);
}

async function checkOwner(guard: DeploymentGuard) {
  if (await guard.isOwn())
    return { status: "ok", found: "the data belongs to this deployment" } as const;
  return {
    status: "warning",
    found: `${describeHold(guard) ?? "held: a restore of the data was just noticed"}; the service does nothing that has effects outside of this deployment`,
    remedy:
      "leave a copy for tests as it is; to use the data in this deployment, stop the original and run `postrider recovery adopt`",
  } as const;
}

async function checkBus(sql: Sql, bus: Bus | undefined, guard: DeploymentGuard) {
  if (bus === undefined) throw new Error("the process has not opened the event bus yet");
  await bus.check();
  const { rows, oldestMs } = await readOutboxBacklog(sql, outboxFloorOf(sql).id);
  const name = bus.system === "kafka" ? "Kafka" : "Postgres";
  const backlog =
    rows === 0
      ? "no events wait to be published"
      : `${rows} events wait to be published, the oldest for ${Math.round(oldestMs / 1000)} s`;
  const found = `the bus on ${name} answers; ${backlog}`;
  // On Kafka, a copy of the data keeps its events until it is adopted.
  return oldestMs > MAX_EVENT_AGE_MS && guard.heldBecause === undefined
    ? ({
        status: "failed",
        found,
        remedy: "look into the log of the service for errors of the outbox relay",
      } as const)
    : ({ status: "ok", found } as const);
}
