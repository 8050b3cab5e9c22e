import type { SharedSystem } from "../system/system.ts";
import { createApi, type Api } from "./api.ts";
import type { VisibleEntry } from "./simulator.ts";

/**
 * A workspace that one test or one test file uses alone, so that its limits, time slots, lists and
 * accounts do not affect other tests.
 */
export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly api: Api;
  /**
   * Connects a new account of the platform, or reconnects the account with the given username;
   * returns the account's id.
   */
  connect(platform: string, username?: string): Promise<string>;
  /** Connects `count` new accounts of the platform and returns their ids. */
  connectAll(platform: string, count: number): Promise<readonly string[]>;
  /**
   * Lists the posts that readers of the simulated platforms see on the accounts of this workspace,
   * disconnected accounts included.
   */
  listVisible(): Promise<readonly VisibleEntry[]>;
  countVisible(text: string): Promise<number>;
  /** Makes the simulated platform fail the next call of the account, or its next `times` calls. */
  addFault(accountId: string, rule: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Disconnects an account as the API does: its database row stays and its token is deleted. */
export async function disconnect({ sql }: SharedSystem, accountId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`delete from accounts.credentials where account_id = ${accountId}`;
    await tx`
      update accounts.accounts set status = 'disconnected', version = version + 1 where id = ${accountId}`;
  });
}

/** Creates an API key of a workspace with only the given scopes. */
export async function createKey(
  { operate }: Pick<SharedSystem, "operate">,
  workspaceId: string,
  scopes: string,
): Promise<string> {
  const words = ["key", "create", "--name", "test key", "--workspace", workspaceId];
  return (await operate<{ key: string }>(...words, "--scopes", scopes)).key;
}

/** Creates a workspace that an operator has marked as verified, and an API key with all scopes. */
export async function openTenant(
  system: SharedSystem,
  limits: readonly string[] = [],
  requestsPerMinute = 60_000,
): Promise<Tenant> {
  const words = ["workspace", "create", "--name", "Tenant", "--verified"];
  const { id } = await system.operate<{ id: string }>(...words);
  const rate = ["--requests-per-minute", String(requestsPerMinute)];
  await system.operate("workspace", "set-limits", id, ...rate, ...limits);
  const key = await createKey(system, id, "all");
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
