import { createApi, type Api } from "./api.ts";
import type { System } from "./system.ts";

/** A workspace of its own, so that limits, slots and lists of one test are nobody else's. */
export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly api: Api;
  /** A fresh account of the platform, or that of the username again; its id. */
  connect(platform: string, username?: string): Promise<string>;
}

/** Disconnects an account as the accounts service does: it stays in the history, its token does not. */
export async function disconnect({ sql }: System, accountId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`delete from accounts.credentials where account_id = ${accountId}`;
    await tx`
      update accounts.accounts set status = 'disconnected', version = version + 1 where id = ${accountId}`;
  });
}

export async function openTenant(
  system: System,
  limits: readonly string[] = [],
  requestsPerMinute = 60_000,
): Promise<Tenant> {
  const { id } = await system.operate<{ id: string }>(
    "workspace",
    "create",
    "--name",
    "Tenant",
    "--verified",
  );
  const rate = ["--requests-per-minute", String(requestsPerMinute)];
  await system.operate("workspace", "set-limits", id, ...rate, ...limits);
  const { key } = await system.operate<{ key: string }>(
    "key",
    "create",
    "--name",
    "Tenant",
    "--workspace",
    id,
    "--scopes",
    "all",
  );
  return {
    id,
    key,
    api: createApi(system.local().baseUrl, key),
    connect: async (platform, username) => {
      const account = await system.operate<{ id: string }>(
        "account",
        "connect",
        platform,
        "--workspace",
        id,
        "--simulated",
        ...(username === undefined ? [] : ["--username", username]),
      );
      return account.id;
    },
  };
}
