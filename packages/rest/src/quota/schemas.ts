import { Type } from "typebox";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { enumeration, Id, Instant, ref } from "#src/schemas.ts";

const COUNTS = {
  limit: Type.Integer(),
  used: Type.Integer({
    description: "Publications made, including those with an unknown outcome.",
  }),
  reserved: Type.Integer({ description: "Publications accepted and not made yet." }),
  remaining: Type.Integer({ minimum: 0 }),
  resetsAt: Instant,
};

export const MonthlyQuota = Type.Object(
  {
    period: Type.String({
      pattern: "^[0-9]{4}-[0-9]{2}$",
      description: "A month in UTC, such as 2026-11.",
    }),
    ...COUNTS,
    released: Type.Optional(
      Type.Integer({
        description:
          "How often a publication failed or was cancelled and gave its share back. Not in webhooks.",
        "x-postrider-extension": true,
      }),
    ),
    maxReleased: Type.Optional(
      Type.Integer({
        description:
          "Value of `released` at which no more publications are accepted in the month. Not in webhooks.",
        "x-postrider-extension": true,
      }),
    ),
  },
  { $id: "MonthlyQuota" },
);

export const DailyQuota = Type.Object(
  {
    platform: ref(PlatformIdSchema),
    accountId: Id,
    scope: enumeration(
      "QuotaScope",
      ["account", "app", "project"],
      "Who shares the limit: accounts of one app or project may share it.",
    ),
    ...COUNTS,
  },
  {
    $id: "DailyQuota",
    description:
      "An estimate for the current UTC day; the platform decides. Of the limit of an app or a project, `limit`, `used` and `reserved` are what this workspace may use, has used and has reserved; `remaining` is less than the rest if other workspaces have used so much that less is left.",
  },
);
