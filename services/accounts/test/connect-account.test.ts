import type { ServiceError } from "@postrider/shared/errors";
import { NIL_ID } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { createTenant } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

/**
 * Creates an account on the simulator and returns the credentials that a person enters to connect
 * it.
 */
async function createCredentials(platform: string): Promise<Record<string, string>> {
  const answer = await fetch(`${fixture.simulatorUrl}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform }),
  });
  const { accounts } = (await answer.json()) as {
    accounts: { credentials: Record<string, string | number> }[];
  };
  return Object.fromEntries(
    Object.entries(accounts[0]?.credentials ?? {}).map(([name, value]) => [name, String(value)]),
  );
}

test.each(["bluesky", "telegram"])(
  "an account of %s is connected with the credentials that a person enters",
  async (platform) => {
    const { workspaceId } = fixture;
    const login = await createCredentials(platform);
    const { account } = await fixture.app.accounts.connectAccount({ workspaceId, platform, login });
    expect(account).toMatchObject({ platform, workspaceId, status: "active" });
    const ref = { workspaceId, accountId: account?.id ?? "" };
    expect(await fixture.credentialOf(ref)).toMatchObject({ accountStatus: "active" });
  },
);

test.each([
  [
    "bluesky",
    "a wrong app password",
    { identifier: "invented@example.com", appPassword: "x" },
    "Bluesky does not know this handle with this app password",
  ],
  [
    "bluesky",
    "an unknown handle",
    { identifier: "unknown.example", appPassword: "x" },
    "Bluesky finds no account with this handle",
  ],
  ["telegram", "a wrong bot token", { botToken: "1:x", chatId: "@unknown" }, "from BotFather"],
  ["telegram", "no bot token", { chatId: "@unknown" }, "the credentials are incomplete"],
])(
  "ConnectAccount for %s with %s is rejected, and the message for the person says what was wrong",
  async (platform, _name, login: Record<string, string>, reason) => {
    const { workspaceId } = fixture;
    await expect(
      fixture.app.accounts.connectAccount({ workspaceId, platform, login }),
    ).rejects.toMatchObject({
      reason: "invalid_request",
      violations: [{ code: "login_refused", reason: expect.stringContaining(reason) as string }],
    });
  },
);

test("ConnectAccount for a Telegram chat without the bot says that the bot has to be added", async () => {
  const { workspaceId } = fixture;
  const { botToken = "" } = await createCredentials("telegram");
  const login = { botToken, chatId: "@unknown" };
  await expect(
    fixture.app.accounts.connectAccount({ workspaceId, platform: "telegram", login }),
  ).rejects.toMatchObject({
    violations: [{ reason: expect.stringContaining("add the bot to the chat") as string }],
  });
});

test("when a platform does not answer during ConnectAccount, the error names the platform", async () => {
  const { workspaceId } = fixture;
  const login = await createCredentials("bluesky");
  const fault = { platform: "bluesky", operation: "login", mode: "status", status: 502 } as const;
  await fixture.control.fault(fault);
  await expect(
    fixture.app.accounts.connectAccount({ workspaceId, platform: "bluesky", login }),
  ).rejects.toMatchObject({
    reason: "unavailable",
    violations: [{ code: "platform_unavailable", reason: "Bluesky answered 502" }],
  });
});

test.each(["x", "facebook", "instagram", "tiktok", "youtube"])(
  "ConnectAccount for %s is rejected because its accounts can be connected only on its authorization page",
  async (platform) => {
    const { workspaceId } = fixture;
    const login = await createCredentials(platform);
    await expect(
      fixture.app.accounts.connectAccount({ workspaceId, platform, login }),
    ).rejects.toMatchObject({ reason: "invalid_request", violations: [{ code: "not_available" }] });
  },
);

/** Tries app passwords of one Bluesky account at the same time; returns the errors. */
async function guess(workspaceId: string, attempts: number): Promise<readonly string[]> {
  const login = { identifier: "invented@example.com", appPassword: "x" };
  const request = { workspaceId, platform: "bluesky", login };
  const results = await Promise.allSettled(
    Array.from({ length: attempts }, () => fixture.app.accounts.connectAccount(request)),
  );
  return results.map((result) =>
    result.status === "rejected" ? (result.reason as ServiceError).reason : "",
  );
}

const countLimited = (errors: readonly string[]) =>
  errors.filter((error) => error === "rate_limited").length;

test("a workspace makes 20 attempts to connect accounts of a platform at once and one more every 15 s, and others connect theirs meanwhile", async () => {
  const { workspaceId, app, control, sql } = fixture;
  expect(countLimited(await guess(workspaceId, 60))).toBe(40);
  expect(await control.countCalls("bluesky", "login")).toBe(20);
  const connect = async (workspace: string, platform: string) => {
    const login = await createCredentials(platform);
    return await app.accounts.connectAccount({ workspaceId: workspace, platform, login });
  };
  const refusal = await connect(workspaceId, "bluesky").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ reason: "rate_limited" });
  const { retryAfterMs } = refusal as ServiceError;
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(15_000);
  expect(await connect(workspaceId, "telegram")).toHaveProperty("account");
  expect(await connect(await fixture.createWorkspace(), "bluesky")).toHaveProperty("account");
  await sql`
    update connect_budgets set tokens = 0, refilled_at = now() - interval '15 seconds'
    where workspace_id = ${workspaceId}`;
  expect(countLimited(await guess(workspaceId, 2))).toBe(1);
});

test("an attempt to connect an account that waits for a concurrent one sees what that one took from the budget", async () => {
  const { workspaceId, sql } = fixture;
  await guess(workspaceId, 1);
  const { waiting } = await sql.begin(async (tx) => {
    await tx`select from connect_budgets where workspace_id = ${workspaceId} for update`;
    const attempt = guess(workspaceId, 1);
    await eventually(async () => {
      const { count } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return count > 0;
    });
    await tx`update connect_budgets set tokens = 0 where workspace_id = ${workspaceId}`;
    return { waiting: attempt };
  });
  expect(await waiting).toEqual(["rate_limited"]);
});

test("the attempts of all workspaces to connect accounts of a platform have one budget, and one that it refuses costs its workspace nothing", async () => {
  const { workspaceId, control, sql } = fixture;
  await guess(workspaceId, 1);
  // A `refilled_at` in the future stops the refill of the token bucket during the test.
  await sql`
    update connect_budgets set tokens = 2, refilled_at = now() + interval '9 seconds'
    where workspace_id = ${NIL_ID} and platform = 'bluesky'`;
  const other = await fixture.createWorkspace();
  const errors = await Promise.all([guess(workspaceId, 5), guess(other, 5)]);
  expect(countLimited(errors.flat())).toBe(8);
  expect(await control.countCalls("bluesky", "login")).toBe(3);
  const [left] = await sql<{ tokens: number }[]>`
    select sum(tokens) as tokens
    from connect_budgets
    where workspace_id in (${workspaceId}, ${other})`;
  expect(left?.tokens).toBeGreaterThanOrEqual(37);
  await sql`
    update connect_budgets set tokens = 200, refilled_at = now()
    where workspace_id = ${NIL_ID}`;
});

test("a workspace has at most 1,000 connected accounts, and can connect each of them again", async () => {
  const { app, sql } = fixture;
  const { workspaceId } = await createTenant(app);
  const platform = "telegram";
  const login = await createCredentials(platform);
  await app.accounts.connectAccount({ workspaceId, platform, login });
  await sql`
    insert into accounts (id, workspace_id, platform, external_id, username, display_name, status)
    select gen_random_uuid(), ${workspaceId}, 'bluesky', 'did:plc:' || n, 'user' || n, 'user' || n, 'active'
    from generate_series(1, 999) as n`;

  const next = { workspaceId, platform, login: await createCredentials(platform) };
  await expect(app.accounts.connectAccount(next)).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [{ code: "too_many_accounts", limit: 1_000, actual: 1_001 }],
  });
  const { account } = await app.accounts.connectAccount({ workspaceId, platform, login });
  expect(account).toMatchObject({ status: "active" });
});

test("an account that was disconnected counts as a new one when 1,000 accounts are connected", async () => {
  const { app, sql } = fixture;
  const { workspaceId } = await createTenant(app);
  const platform = "telegram";
  const request = { workspaceId, platform, login: await createCredentials(platform) };
  const { account } = await app.accounts.connectAccount(request);
  const ref = { workspaceId, accountId: account?.id ?? "" };
  await app.accounts.disconnectAccount({ ref });
  await sql`
    insert into accounts (id, workspace_id, platform, external_id, username, display_name, status)
    select gen_random_uuid(), ${workspaceId}, 'bluesky', 'did:plc:' || n, 'user' || n, 'user' || n, 'active'
    from generate_series(1, 1000) as n`;
  await expect(app.accounts.connectAccount(request)).rejects.toMatchObject({
    violations: [{ code: "too_many_accounts", limit: 1_000, actual: 1_001 }],
  });
  await sql`update accounts set status = 'disconnected' where external_id = 'did:plc:1'`;
  const again = await app.accounts.connectAccount(request);
  expect(again.account).toMatchObject({ id: ref.accountId, status: "active" });
});

test("a workspace knows at most 10,000 accounts, with those that were disconnected", async () => {
  const { app, sql } = fixture;
  const { workspaceId } = await createTenant(app);
  await sql`
    insert into accounts (id, workspace_id, platform, external_id, username, display_name, status)
    select gen_random_uuid(), ${workspaceId}, 'bluesky', 'did:plc:' || n, 'user' || n, 'user' || n, 'disconnected'
    from generate_series(1, 10000) as n`;
  const login = await createCredentials("telegram");
  await expect(
    app.accounts.connectAccount({ workspaceId, platform: "telegram", login }),
  ).rejects.toMatchObject({
    violations: [{ code: "too_many_accounts", limit: 10_000, actual: 10_001 }],
  });
});

test("ConnectAccount returns `not_found` for an unknown workspace", async () => {
  const login = await createCredentials("bluesky");
  for (const id of ["x", "0198a6a4-0000-7000-8000-000000000001"])
    await expect(
      fixture.app.accounts.connectAccount({ workspaceId: id, platform: "bluesky", login }),
    ).rejects.toMatchObject({ reason: "not_found" });
});
