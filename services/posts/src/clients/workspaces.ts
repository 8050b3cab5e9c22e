import type { Client } from "@connectrpc/connect";
import type { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import type { QuotaLimits } from "#src/domain/quota.ts";

/** Knows the limits of workspaces. */
export interface WorkspaceDirectory {
  findLimits(workspaceId: string): Promise<QuotaLimits>;
}

/** A new limit is promised to be in force within 5 seconds. */
const FRESH_MS = 3_000;
const MAX_KNOWN = 10_000;
const MONTHLY_DEFAULT = 1_000;

interface Answer {
  readonly limits: Promise<QuotaLimits>;
  readonly until: number;
}

/** Asks the accounts service at most every 3 seconds for each workspace; while it asks, everyone waits for the one answer. */
export function createWorkspaceDirectory(
  client: Client<typeof WorkspaceService>,
): WorkspaceDirectory {
  const known = new Map<string, Answer>();
  const ask = async (workspaceId: string): Promise<QuotaLimits> => {
    const { workspaces } = await client.batchGetWorkspaces({ ids: [workspaceId] });
    const limits = workspaces[0]?.limits;
    return { monthly: limits?.monthlyQuota ?? MONTHLY_DEFAULT, daily: limits?.dailyQuota ?? null };
  };
  return {
    findLimits: (workspaceId) => {
      const answer = known.get(workspaceId);
      if (answer !== undefined && performance.now() < answer.until) return answer.limits;
      if (known.size >= MAX_KNOWN) known.clear();
      const limits = ask(workspaceId);
      known.set(workspaceId, { limits, until: performance.now() + FRESH_MS });
      // Whoever waits hears of the failure; the next one asks again.
      limits.catch(() => known.delete(workspaceId));
      return limits;
    },
  };
}
