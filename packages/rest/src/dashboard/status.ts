import { Type, type Static } from "typebox";
import { BoundedCount, Platform } from "#src/dashboard/parts.ts";
import { Id, Instant, nullable } from "#src/schemas.ts";

const Counts = {
  limit: Type.Integer(),
  used: Type.Integer(),
  reserved: Type.Integer(),
  remaining: Type.Integer(),
  /** When it begins anew. */
  resetsAt: nullable(Instant),
};

/** `GET /app/api/status`. */
export const Status = Type.Object({
  pauses: Type.Array(
    Type.Object({
      /**
       * `deployment`: the whole installation is held, because its data is a copy or was restored.
       */
      kind: Type.Unsafe<"platform" | "account" | "workspace" | "deployment">({
        type: "string",
        enum: ["platform", "account", "workspace", "deployment"],
      }),
      /** Platform id or id of the account; null for the workspace and the deployment. */
      key: nullable(Type.String()),
      reason: nullable(Type.String()),
      /** Null for the deployment. */
      since: nullable(Instant),
      /** Publications of this workspace that are due and wait for it. */
      waiting: BoundedCount,
    }),
  ),
  /** Platforms that left several calls in a row without an answer, or whose limit is used up. */
  heldPlatforms: Type.Array(
    Type.Object({
      platform: Platform,
      /**
       * `app_limit`: a limit of the operator's app at the platform is used up until `nextTryAt`.
       */
      reason: Type.Unsafe<"no_answer" | "app_limit">({
        type: "string",
        enum: ["no_answer", "app_limit"],
      }),
      /** Null for `app_limit`. */
      since: nullable(Instant),
      /** When one call tries whether it answers again. */
      nextTryAt: nullable(Instant),
      waiting: BoundedCount,
    }),
  ),
  /** Accounts that reached a limit of their platform, or that failed several times in a row. */
  heldAccounts: Type.Array(
    Type.Object({ accountId: Id, platform: Platform, until: Instant, waiting: BoundedCount }),
  ),
  quota: Type.Object({
    monthly: Type.Object({ period: Type.String(), ...Counts }),
    dailyLimits: Type.Array(
      Type.Object({ platform: Platform, accountId: Id, scope: Type.String(), ...Counts }),
    ),
  }),
});

export type StatusJson = Static<typeof Status>;
