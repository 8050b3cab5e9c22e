import type { StatusJson } from "@postrider/rest/dashboard/status";
import { toDailyQuota, toMonthlyQuota } from "@postrider/rest/quota/mapping";
import type { FastifyInstance } from "fastify";
import { required } from "#src/routes/answer.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf } from "#src/routes/request.ts";

type Deps = Pick<ServerDeps, "accounts" | "publishingStatus" | "quota">;
type PublishingStatus = Omit<StatusJson, "quota">;

/** Registers what holds publishing back, and the quotas. */
export function registerStatusRoutes(api: FastifyInstance, deps: Deps): void {
  const status = dashboardRoute({ scope: "posts:read" });
  api.get("/status", status, async (request): Promise<StatusJson> => {
    const { workspaceId } = callerOf(request);
    const [publishing, { monthly, dailyLimits }] = await Promise.all([
      readPublishing(deps, workspaceId),
      deps.quota.getQuota({ workspaceId }),
    ]);
    const daily = dailyLimits.map(toDailyQuota);
    return {
      ...publishing,
      quota: { monthly: toMonthlyQuota(required(monthly)), dailyLimits: daily },
    };
  });
}

async function readPublishing(
  { accounts: service, publishingStatus }: Deps,
  workspaceId: string,
): Promise<PublishingStatus> {
  const { accounts } = await service.listAccounts({ workspaceId });
  const connected = accounts.map(({ id, platform }) => ({ id, platform }));
  const { json } = await publishingStatus.getPublishingStatus({ workspaceId, accounts: connected });
  return JSON.parse(json) as PublishingStatus;
}
