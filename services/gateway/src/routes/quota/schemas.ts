import { Type } from "typebox";
import { PlatformIdSchema } from "#src/routes/platforms/schemas.ts";
import { Id, Instant, ref } from "#src/routes/schemas.ts";

const COUNTS = {
  limit: Type.Integer(),
  used: Type.Integer({ description: "Publications made, unknown outcomes included." }),
  reserved: Type.Integer({ description: "Publications accepted and not yet made." }),
  remaining: Type.Integer({ minimum: 0 }),
  resetsAt: Instant,
};

const MonthlyQuota = Type.Object(
  { period: Type.String({ description: "A month in UTC, such as 2026-11." }), ...COUNTS },
  { $id: "MonthlyQuota" },
);

const DailyQuota = Type.Object(
  {
    platform: ref(PlatformIdSchema),
    accountId: Id,
    scope: Type.Unsafe<string>({
      type: "string",
      enum: ["account", "app", "project"],
      description: "Whose counter it is; accounts of one app or project share it.",
    }),
    ...COUNTS,
  },
  { $id: "DailyQuota", description: "A forecast of the UTC day: the platform itself decides." },
);

export const Quota = Type.Object(
  { monthly: ref(MonthlyQuota), dailyLimits: Type.Array(ref(DailyQuota)) },
  { $id: "Quota" },
);

/** All schemas with a name of their own in the API description. */
export const QUOTA_SCHEMAS = [MonthlyQuota, DailyQuota, Quota];
