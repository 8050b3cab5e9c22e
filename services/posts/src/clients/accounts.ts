import type { Client } from "@connectrpc/connect";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import type { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import type { SettingValues } from "@postrider/platforms/settings/read-settings";
import { newId } from "@postrider/shared/ids";
import { Batcher } from "@postrider/shared/process/batcher";
import {
  findContext,
  type RequestContext,
  runInContext,
  shareContext,
} from "@postrider/shared/telemetry/request-context";
import type { PostAccount } from "#src/domain/post.ts";
import type { QuotaLimits } from "#src/domain/quota.ts";

export interface AccountDirectory {
  findAccounts(
    workspaceId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, PostAccount>>;
}

interface Lookup {
  readonly workspaceId: string;
  readonly accountIds: readonly string[];
  readonly context: RequestContext | undefined;
}

/** Lookups of other requests share the RPC, which costs more CPU than the rest of a new post. */
const BATCH_WAIT_MS = 1;
const MAX_LOOKUPS = 100;
const MAX_REFS_PER_CALL = 1000;

export function createAccountDirectory(client: Client<typeof AccountService>): AccountDirectory {
  const batcher = new Batcher<Lookup, ReadonlyMap<string, PostAccount>>({
    windowMs: BATCH_WAIT_MS,
    maxItems: MAX_LOOKUPS,
    flush: (lookups) => runInContext(contextOf(lookups), () => getAccounts(client, lookups)),
  });
  return {
    findAccounts: async (workspaceId, accountIds) =>
      await batcher.submit({ workspaceId, accountIds, context: findContext() }),
  };
}

function contextOf(lookups: readonly Lookup[]): RequestContext {
  return shareContext(lookups.map(({ context }) => context)) ?? { requestId: newId() };
}

async function getAccounts(
  client: Client<typeof AccountService>,
  lookups: readonly Lookup[],
): Promise<readonly ReadonlyMap<string, PostAccount>[]> {
  const refs = lookups.flatMap(({ workspaceId, accountIds }) =>
    accountIds.map((accountId) => ({ workspaceId, accountId })),
  );
  const calls: Promise<{ readonly accounts: readonly Account[] }>[] = [];
  for (let start = 0; start < refs.length; start += MAX_REFS_PER_CALL)
    calls.push(client.batchGetAccounts({ refs: refs.slice(start, start + MAX_REFS_PER_CALL) }));
  const found = new Map<string, PostAccount>();
  for (const account of (await Promise.all(calls)).flatMap(({ accounts }) => accounts)) {
    const known = toPostAccount(account);
    if (known !== undefined) found.set(`${account.workspaceId} ${account.id}`, known);
  }
  return lookups.map(({ workspaceId, accountIds }) => {
    const entries = accountIds.flatMap((id) => found.get(`${workspaceId} ${id}`) ?? []);
    return new Map(entries.map((account) => [account.id, account]));
  });
}

function toPostAccount(account: Account): PostAccount | undefined {
  if (!isPlatformId(account.platform)) return undefined;
  const { id, platform, username, status, traits } = account;
  if (status !== "active" && status !== "reconnect_required") return undefined;
  const settings = toValues(account.settings);
  return {
    id,
    platform,
    username,
    status,
    traits,
    settings,
    available: toValues(account.available),
  };
}

function toValues(text: string): SettingValues | undefined {
  return text === "" ? undefined : (JSON.parse(text) as SettingValues);
}

export interface PlatformDirectory {
  listAvailable(): Promise<ReadonlySet<string>>;
}

/** The list changes only when an operator restarts the accounts service with other credentials. */
const PLATFORMS_FRESH_MS = 5_000;

export function createPlatformDirectory(client: Client<typeof PlatformService>): PlatformDirectory {
  let known: { readonly platforms: ReadonlySet<string>; readonly until: number } | undefined;
  let asking: Promise<ReadonlySet<string>> | undefined;
  const ask = async (): Promise<ReadonlySet<string>> => {
    try {
      const answer = await client.listPlatforms({});
      const available = answer.platforms.filter((platform) => platform.available);
      const platforms = new Set(available.map(({ platform }) => platform));
      known = { platforms, until: performance.now() + PLATFORMS_FRESH_MS };
      return platforms;
    } finally {
      asking = undefined;
    }
  };
  return {
    listAvailable: () => {
      if (known !== undefined && performance.now() < known.until)
        return Promise.resolve(known.platforms);
      return (asking ??= ask());
    },
  };
}

export interface WorkspaceDirectory {
  findLimits(workspaceId: string): Promise<QuotaLimits>;
}

/** The documentation promises that a new limit takes effect within 5 seconds. */
const LIMITS_FRESH_MS = 3_000;
const MAX_KNOWN_WORKSPACES = 10_000;
const DEFAULT_MONTHLY_QUOTA = 1_000;

interface LimitsAnswer {
  readonly limits: Promise<QuotaLimits>;
  readonly until: number;
}

export function createWorkspaceDirectory(
  client: Client<typeof WorkspaceService>,
): WorkspaceDirectory {
  const known = new Map<string, LimitsAnswer>();
  const ask = async (workspaceId: string): Promise<QuotaLimits> => {
    const { workspaces } = await client.batchGetWorkspaces({ ids: [workspaceId] });
    const limits = workspaces[0]?.limits;
    return {
      monthly: limits?.monthlyQuota ?? DEFAULT_MONTHLY_QUOTA,
      daily: limits?.dailyQuota ?? null,
    };
  };
  return {
    findLimits: (workspaceId) => {
      const answer = known.get(workspaceId);
      if (answer !== undefined && performance.now() < answer.until) return answer.limits;
      if (known.size >= MAX_KNOWN_WORKSPACES) known.clear();
      const limits = ask(workspaceId);
      known.set(workspaceId, { limits, until: performance.now() + LIMITS_FRESH_MS });
      // When reading the quota limits fails, the lookups that share the failed RPC throw its error.
      // The next lookup sends a new RPC.
      limits.catch(() => known.delete(workspaceId));
      return limits;
    },
  };
}
