import type { Client } from "@connectrpc/connect";
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
  runBeyondRequest,
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
/**
 * How long further lookups wait for the call that runs, to share the next one: calls grow with the
 * load.
 */
const PATIENCE_MS = 20;
/** A lookup has at most 200 accounts: those of a post and those of its options. */
const MAX_LOOKUPS = 50;

export function createAccountDirectory(client: Client<typeof AccountService>): AccountDirectory {
  const batcher = new Batcher<Lookup, ReadonlyMap<string, PostAccount>>({
    windowMs: BATCH_WAIT_MS,
    patienceMs: PATIENCE_MS,
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

/** As the accounts service describes it. */
type DescribedAccount = Omit<PostAccount, "platform" | "settings" | "available"> & {
  readonly workspaceId: string;
  readonly platform: string;
  readonly settings: SettingValues | null;
  readonly available: Readonly<Record<string, unknown>> | null;
};

async function getAccounts(
  client: Client<typeof AccountService>,
  lookups: readonly Lookup[],
): Promise<readonly ReadonlyMap<string, PostAccount>[]> {
  const workspaces = lookups.map(({ workspaceId, accountIds }) => ({
    workspaceId,
    accountIds: [...accountIds],
  }));
  const { accounts } = await client.batchGetPostingAccounts({ workspaces });
  const found = new Map<string, PostAccount>();
  for (const { workspaceId, platform, settings, available, ...account } of JSON.parse(
    accounts,
  ) as DescribedAccount[]) {
    if (!isPlatformId(platform)) continue;
    const known = { settings: settings ?? undefined, available: available ?? undefined };
    found.set(`${workspaceId} ${account.id}`, { ...account, platform, ...known });
  }
  return lookups.map(({ workspaceId, accountIds }) => {
    const entries = accountIds.flatMap((id) => found.get(`${workspaceId} ${id}`) ?? []);
    return new Map(entries.map((account) => [account.id, account]));
  });
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
      // Others wait for the same answer, longer than the first caller may.
      return (asking ??= runBeyondRequest(ask));
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
    const answer = await client.batchGetWorkspaces({ ids: [workspaceId] });
    const limits = answer.workspaces[0]?.limits;
    return {
      monthly: limits?.monthlyQuota ?? DEFAULT_MONTHLY_QUOTA,
      daily: limits?.dailyQuota ?? null,
      highestDaily: answer.highestDailyQuota ?? limits?.dailyQuota ?? null,
      hasOthers: answer.hasSeveralWorkspaces,
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
