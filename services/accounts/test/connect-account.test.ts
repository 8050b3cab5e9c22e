import type { TestDatabase } from "@postrider/shared/testing/database";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp, createDatabase, createSimulator, type AccountsApp } from "./accounts-app.ts";

let database: TestDatabase;
let simulator: Simulator;
let app: AccountsApp;
let workspaceId: string;

beforeAll(async () => {
  [database, simulator] = await Promise.all([createDatabase(4), createSimulator()]);
  app = createApp(database, { simulatorUrl: simulator.url });
  workspaceId = (await app.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

/** What a person would type. */
async function loginFor(platform: string): Promise<Record<string, string>> {
  const answer = await fetch(`${simulator.url}/_control/accounts`, {
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
  "an account of %s is connected by what a person types",
  async (platform) => {
    const login = await loginFor(platform);
    const { account } = await app.accounts.connectAccount({ workspaceId, platform, login });
    expect(account).toMatchObject({ platform, workspaceId, status: "active" });
    const ref = { workspaceId, accountId: account?.id ?? "" };
    const { credentials } = await app.credentials.batchGetCredentials({ refs: [ref] });
    expect(credentials[0]).toMatchObject({ accountStatus: "active" });
  },
);

test.each([
  ["a wrong app password", "bluesky", { identifier: "nobody.example", appPassword: "x" }],
  ["a wrong bot token", "telegram", { botToken: "1:x", chatId: "@nobody" }],
  ["an incomplete login", "telegram", { chatId: "@nobody" }],
])("%s is refused", async (_name, platform, login: Record<string, string>) => {
  await expect(app.accounts.connectAccount({ workspaceId, platform, login })).rejects.toMatchObject(
    { reason: "invalid_request", violations: [{ code: "login_refused" }] },
  );
});

test.each(["x", "facebook", "instagram", "tiktok", "youtube"])(
  "tokens of %s cannot be typed in: it has a page of its own",
  async (platform) => {
    const login = await loginFor(platform);
    await expect(
      app.accounts.connectAccount({ workspaceId, platform, login }),
    ).rejects.toMatchObject({ reason: "invalid_request", violations: [{ code: "not_available" }] });
  },
);

test("an account is connected to a workspace that exists only", async () => {
  const login = await loginFor("bluesky");
  for (const id of ["x", "0198a6a4-0000-7000-8000-000000000001"])
    await expect(
      app.accounts.connectAccount({ workspaceId: id, platform: "bluesky", login }),
    ).rejects.toMatchObject({ reason: "not_found" });
});
