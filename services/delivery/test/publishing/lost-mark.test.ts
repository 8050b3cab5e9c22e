import type { Sql } from "@postrider/shared/postgres";
import { expect, test } from "vitest";
import { listAttempts, readTask, request, startWorker, untilStatus } from "./fixture.ts";
import { openTargetRun } from "./run-target.ts";

const QUICK = { visibleCallMs: 250, leaseMs: 1_000 };

function connectionLost(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
}

/**
 * Whether these arguments of a call of `sql` contain the SQL statement that records that publishing
 * calls begin.
 */
function isMark([first]: readonly unknown[]): boolean {
  return Array.isArray(first) && first.join("").includes("set status = 'calling'");
}

/**
 * Returns a connection pool that loses the database connection once: before or after the database
 * has recorded that a publishing call begins.
 */
function loseOneMark(sql: Sql, when: "before" | "after"): Sql {
  let isLost = false;
  return new Proxy(sql, {
    apply: (target, self, given: unknown[]) => {
      if (isLost || !isMark(given)) return Reflect.apply(target, self, given);
      isLost = true;
      if (when === "before") return Promise.reject(connectionLost());
      return Reflect.apply(target, self, given).then(() => Promise.reject(connectionLost()));
    },
  });
}

test.each([
  ["after the commit", "after", 2],
  ["before the statement", "before", 1],
] as const)(
  "a target is sent once and published when the database connection breaks %s that records the start of the publishing call",
  async (_what, when, callNumber) => {
    // Like Telegram, the platform of this test cannot be searched for posts.
    await using run = await openTargetRun();
    const { database, sql, world, target } = run;
    const wrapSql = (pool: Sql) => loseOneMark(pool, when);
    await using _worker = startWorker(database, world, { settings: QUICK, wrapSql });
    await request(sql, target);

    await untilStatus(sql, target, "published");
    expect(world.calls).toHaveLength(1);
    expect(world.looks).toEqual([]);
    expect(await readTask(sql, target)).toMatchObject({ callNumber });
    expect(await listAttempts(sql, target)).toMatchObject([{ number: 1, outcome: "published" }]);
  },
);

test("when the database connection breaks after a probe's start is recorded, the next probe follows after the usual wait", async () => {
  await using run = await openTargetRun();
  const { database, sql, world, target } = run;
  await sql`
    insert into platform_breakers (platform, held_since, probe_at)
    values ('x', now() - interval '1 minute', now())`;
  await using _worker = startWorker(database, world, {
    settings: { ...QUICK, visibleCallMs: 3_600_000, probeMs: [20] },
    wrapSql: (pool) => loseOneMark(pool, "after"),
  });
  await request(sql, target);

  await untilStatus(sql, target, "published");
  expect(world.calls).toHaveLength(1);
});
