import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp, createDatabase, createTenant, type AccountsApp } from "./accounts-app.ts";

/** Sends one batch of equal admission queries of one workspace; returns the number of requests that were granted. */
type Take = (keyHash: Uint8Array, queries: number, want: number) => Promise<number>;

interface Spending {
  readonly granted: number;
  /** Maximum number of requests that the workspace's token bucket may grant during the test. */
  readonly limit: number;
}

let database: TestDatabase;
let app: AccountsApp;

beforeAll(async () => {
  database = await createDatabase(16);
  app = createApp(database);
});

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const admit: Take = async (keyHash, queries, want) => {
  const { grants } = await app.admission.admit({
    queries: Array.from({ length: queries }, () => ({ keyHash, want })),
  });
  return grants.reduce((sum, grant) => sum + grant.granted, 0);
};

/** Sixteen callers send ten batches each; together the batches ask for far more requests than the token bucket has. */
async function spend(take: Take, tenant: Tenant, requestsPerMinute: number): Promise<Spending> {
  await take(tenant.keyHash, 1, 0);
  const startedAt = performance.now();
  let granted = 0;
  const caller = async (): Promise<void> => {
    for (let round = 0; round < 10; round += 1) {
      const share = await take(tenant.keyHash, 5, 3);
      granted += share;
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  const seconds = (performance.now() - startedAt) / 1000;
  // One more request than calculated is allowed, because the clocks of the test and of the database may differ
  // slightly.
  return { granted, limit: requestsPerMinute * (1 + seconds / 60) + 1 };
}

type Tenant = Awaited<ReturnType<typeof createTenant>>;

test("concurrent Admit calls are never granted more requests than the workspace's request budget holds and regains meanwhile", async () => {
  const tenant = await createTenant(app, 600);
  const { granted, limit } = await spend(admit, tenant, 600);
  expect(granted).toBeLessThanOrEqual(limit);
  expect(granted).toBeGreaterThanOrEqual(600);
});

test("an implementation of Admit that read a request budget before writing it would grant too many requests to concurrent calls", async () => {
  const tenant = await createTenant(app, 600);
  const { sql } = database;
  const naive: Take = async (_keyHash, queries, want) => {
    await sql`
      insert into request_budgets (workspace_id, tokens, refilled_at)
      values (${tenant.workspaceId}, 600, now())
      on conflict do nothing`;
    const [row] = await sql<{ tokens: number }[]>`
      select tokens from request_budgets where workspace_id = ${tenant.workspaceId}`;
    const granted = Math.min(Math.floor(row?.tokens ?? 0), queries * want);
    await sql`
      update request_budgets set tokens = ${(row?.tokens ?? 0) - granted}::float8
      where workspace_id = ${tenant.workspaceId}`;
    return granted;
  };
  const { granted, limit } = await spend(naive, tenant, 600);
  expect(granted).toBeGreaterThan(limit);
});

test("concurrent Admit calls that contain the same workspaces in different orders never deadlock", async () => {
  const tenants = await Promise.all(Array.from({ length: 12 }, () => createTenant(app)));
  const batch = async (turn: number): Promise<void> => {
    const rotated = tenants.map((_, index) => tenants[(index * 5 + turn) % tenants.length]);
    const queries = rotated.flatMap((tenant) =>
      tenant === undefined ? [] : [{ keyHash: tenant.keyHash, want: 1 }],
    );
    const { grants } = await app.admission.admit({ queries });
    expect(grants.every((grant) => grant.granted > 0)).toBe(true);
  };
  await Promise.all(Array.from({ length: 120 }, (_, turn) => batch(turn)));
});

test("Admit grants as many requests as a gateway asks for, or 8 if the gateway asks for fewer while the workspace's request budget is more than half full", async () => {
  const tenant = await createTenant(app, 600);
  const ask = async (want: number, giveBack = 0) => {
    const { grants } = await app.admission.admit({
      queries: [{ keyHash: tenant.keyHash, want, giveBack }],
    });
    return grants[0];
  };
  // A `refilled_at` in the future stops the refill of the token bucket during the test.
  const setTokens = async (tokens: number) => {
    await database.sql`
      update request_budgets set tokens = ${tokens}::float8, refilled_at = now() + interval '9 seconds'
      where workspace_id = ${tenant.workspaceId}`;
  };
  expect(await ask(0)).toMatchObject({ granted: 0, remaining: 600 });
  await setTokens(600);
  expect(await ask(1)).toMatchObject({ granted: 8, remaining: 592 });
  await setTokens(600);
  expect(await ask(20)).toMatchObject({ granted: 20, remaining: 580 });
  await setTokens(300);
  expect(await ask(1)).toMatchObject({ granted: 1, remaining: 299 });
  await setTokens(20);
  expect(await ask(1)).toMatchObject({ granted: 1, remaining: 19 });
  await setTokens(5.5);
  expect(await ask(20)).toMatchObject({ granted: 5, remaining: 0, emptyForMs: 50 });
  expect(await ask(1)).toMatchObject({ granted: 0, remaining: 0, emptyForMs: 50 });
  expect(await ask(0, 4)).toMatchObject({ granted: 0, remaining: 4, emptyForMs: 0 });
  expect(await ask(0, 4000)).toMatchObject({ remaining: 600 });
  expect(await ask(-5, -5)).toMatchObject({ granted: 0, remaining: 600 });
});

test("a lowered request limit of a workspace takes effect at once, and a request budget whose row was deleted is full again", async () => {
  const tenant = await createTenant(app);
  const ask = async () =>
    (await app.admission.admit({ queries: [{ keyHash: tenant.keyHash, want: 600 }] })).grants[0];
  await app.workspaces.setWorkspaceLimits({
    id: tenant.workspaceId,
    limits: { requestsPerMinute: 5 },
  });
  expect(await ask()).toMatchObject({ granted: 5, workspace: { requestsPerMinute: 5 } });
  expect((await ask())?.granted).toBe(0);
  await database.sql`delete from request_budgets where workspace_id = ${tenant.workspaceId}`;
  expect((await ask())?.granted).toBe(5);
});

test("one Admit call can check at most 500 API keys", async () => {
  const queries = Array.from({ length: 501 }, () => ({ keyHash: new Uint8Array(32), want: 1 }));
  await expect(app.admission.admit({ queries })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});
