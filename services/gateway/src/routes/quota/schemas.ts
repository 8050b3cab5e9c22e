import { DailyQuota, MonthlyQuota } from "@postrider/rest/quota/schemas";
import { ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

export const Quota = Type.Object(
  { monthly: ref(MonthlyQuota), dailyLimits: Type.Array(ref(DailyQuota)) },
  { $id: "Quota" },
);

/** Schemas of quotas that the API description lists by name. */
export const QUOTA_SCHEMAS = [MonthlyQuota, DailyQuota, Quota];
