import { afterAll, expect, test } from "vitest";
import { createApp, createDatabase, createTenant } from "./accounts-app.ts";

/**
 * Sends one batch of equal admission queries of one workspace; returns the number of requests that
 * were granted.
 */
type Take = (keyHash: Uint8Array, queries: number, want: number) => Promise<number>;

interface Spending {
  readonly granted: number;
  /** Maximum number of requests that the workspace's token bucket may grant during the test. */
  readonly limit: number;
}

const database = await createDatabase(16);
const app = createApp(database);

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const admit: Take = async (keyHash, queries, want) => {
  const { workspaces } = await app.admission.admit({
    queries: Array.from({ length: queries }, () => ({ keyHash, want })),
  });
  return workspaces[0]?.granted ?? 0;
};

/**
 * Sixteen callers send ten batches each; together the batches ask for far more requests than the
 * token bucket has.
 */
async function spend(take: Take, tenant: Tenant, requestsPerMinute: number): Promise<Spending> {
  const startedAt = performance.now();
  let granted = await take(tenant.keyHash, 1, 1);
  const caller = async (): Promise<void> => {
    for (let round = 0; round < 10; round += 1) {
      const share = await take(tenant.keyHash, 5, 3);
      granted += share;
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  const seconds = (performance.now() - startedAt) / 1000;
  // One more request than calculated is allowed, because the clocks of the test and of the database
  // may differ slightly.
  return { granted, limit: requestsPerMinute * (1 + seconds / 60) + 1 };
}

type Tenant = Awaited<ReturnType<typeof createTenant>>;

test("concurrent Admit calls never grant more requests than the workspace's request budget contains and regains during the calls", async () => {
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
    const { workspaces } = await app.admission.admit({ queries });
    expect(workspaces.every(({ granted }) => granted > 0)).toBe(true);
  };
  await Promise.all(Array.from({ length: 120 }, (_, turn) => batch(turn)));
});

test("Admit grants as many requests as a gateway asks for and, in advance, those in the top twentieth of the workspace's request budget", async () => {
  const tenant = await createTenant(app, 600);
  const ask = async (want: number) => {
    const { workspaces } = await app.admission.admit({
      queries: [{ keyHash: tenant.keyHash, want }],
    });
    return workspaces[0];
  };
  // A `refilled_at` in the future stops the refill of the token bucket during the test.
  const setTokens = async (tokens: number) => {
    await database.sql`
      update request_budgets set tokens = ${tokens}::float8, refilled_at = now() + interval '9 seconds'
      where workspace_id = ${tenant.workspaceId}`;
  };
  await ask(1);
  for (const [tokens, want, granted, remaining, emptyForMs] of [
    [600, 1, 30, 570, 0],
    [600, 20, 30, 570, 0],
    [600, 40, 40, 560, 0],
    [580.5, 1, 10, 570, 0],
    [571, 1, 1, 570, 0],
    [300, 1, 1, 299, 0],
    [5.5, 20, 5, 0, 50],
    [0.5, 1, 0, 0, 50],
    [0, 1, 0, 0, 100],
    [0.999_999, 1, 0, 0, 1],
    [300, -5, 0, 300, 0],
  ] as const) {
    await setTokens(tokens);
    expect(await ask(want)).toMatchObject({ granted, remaining, emptyForMs });
  }
});

test("a lowered request limit of a workspace takes effect at once, and a request budget whose row was deleted is full again", async () => {
  const tenant = await createTenant(app);
  const ask = async () =>
    (await app.admission.admit({ queries: [{ keyHash: tenant.keyHash, want: 600 }] }))
      .workspaces[0];
  await app.workspaces.setWorkspaceLimits({
    id: tenant.workspaceId,
    limits: { requestsPerMinute: 5 },
  });
  expect(await ask()).toMatchObject({ granted: 5, requestsPerMinute: 5 });
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
