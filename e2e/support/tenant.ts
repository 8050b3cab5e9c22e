import { createApi, type Api } from "./api.ts";
import type { VisibleEntry } from "./simulator.ts";
import type { SharedSystem } from "./system.ts";

/** A workspace that one test or one file has for itself, so that its limits, slots, lists and accounts disturb no other. */
export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly api: Api;
  /** Connects a fresh account of the platform, or that of the username again; its id. */
  connect(platform: string, username?: string): Promise<string>;
  /** Connects that many fresh accounts of the platform; their ids. */
  connectAll(platform: string, count: number): Promise<readonly string[]>;
  /** What readers of the platforms see of this workspace's accounts, connected and disconnected ones. */
  listVisible(): Promise<readonly VisibleEntry[]>;
  countVisible(text: string): Promise<number>;
  /** Has the next call of one account fail, or as many as `times` says. */
  addFault(accountId: string, rule: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Disconnects an account as the accounts service does: it stays in the history, its token does not. */
export async function disconnect({ sql }: SharedSystem, accountId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`delete from accounts.credentials where account_id = ${accountId}`;
    await tx`
      update accounts.accounts set status = 'disconnected', version = version + 1 where id = ${accountId}`;
  });
}

/** Makes a verified workspace and a key with all scopes. */
export async function openTenant(
  system: SharedSystem,
  limits: readonly string[] = [],
  requestsPerMinute = 60_000,
): Promise<Tenant> {
  const named = ["--name", "Tenant"];
  const { id } = await system.operate<{ id: string }>(
    "workspace",
    "create",
    ...named,
    "--verified",
  );
  const rate = ["--requests-per-minute", String(requestsPerMinute)];
  await system.operate("workspace", "set-limits", id, ...rate, ...limits);
  const scope = ["--workspace", id, "--scopes", "all"];
  const { key } = await system.operate<{ key: string }>("key", "create", ...named, ...scope);
  const listVisible = async (): Promise<readonly VisibleEntry[]> => {
    const entries = await system.simulator.visible();
    const accounts = await system.sql<{ name: string }[]>`
      select platform || ' ' || external_id as name from accounts.accounts where workspace_id = ${id}`;
    const names = new Set(accounts.map(({ name }) => name));
    return entries.filter(({ platform, account }) => names.has(`${platform} ${account}`));
  };
  return {
    id,
    key,
    api: createApi(system.local().baseUrl, key),
    connect: async (platform, username) => {
      const words = ["account", "connect", platform, "--workspace", id, "--simulated"];
      const choice = username === undefined ? [] : ["--username", username];
      return (await system.operate<{ id: string }>(...words, ...choice)).id;
    },
    connectAll: (platform, count) => system.connect(platform, count, id),
    listVisible,
    countVisible: async (text) =>
      (await listVisible()).filter((entry) => entry.text === text).length,
    addFault: async (accountId, rule) => {
      const [account] = await system.sql<{ platform: string; account: string }[]>`
        select platform, external_id as account from accounts.accounts where id = ${accountId}`;
      await system.simulator.addFault({ ...account, times: 1, ...rule });
    },
  };
}
