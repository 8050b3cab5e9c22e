import { toDailyQuota, toMonthlyQuota } from "@postrider/rest/quota/mapping";
import { DailyQuota, MonthlyQuota } from "@postrider/rest/quota/schemas";
import { ref } from "@postrider/rest/schemas";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf } from "#src/routes/request.ts";
import { NoQuery } from "#src/routes/schemas.ts";

const Quota = Type.Object(
  { monthly: ref(MonthlyQuota), dailyLimits: Type.Array(ref(DailyQuota)) },
  { $id: "Quota" },
);

/** Schemas of quotas that the API description lists by name. */
export const QUOTA_SCHEMAS = [MonthlyQuota, DailyQuota, Quota];

export function registerQuota(api: FastifyInstance, deps: Pick<ServerDeps, "quota">): void {
  const get = operation({
    operationId: "getQuota",
    summary: "Read the monthly quota and the daily limits",
    tags: ["quota"],
    scope: "posts:read",
    querystring: NoQuery,
    response: { 200: { description: "The quota as it is now.", body: Quota } },
  });
  api.get("/quota", get, async (request) => {
    const { workspaceId } = callerOf(request);
    const { monthly, dailyLimits } = await deps.quota.getQuota({ workspaceId });
    if (monthly === undefined) throw new ServiceError("internal", "internal");
    return { monthly: toMonthlyQuota(monthly), dailyLimits: dailyLimits.map(toDailyQuota) };
  });
}
