import { type Static, Type } from "typebox";
import { Id, Instant, nullable } from "#src/schemas.ts";

/** An API key of the workspace, without the key itself. */
export const DashboardApiKey = Type.Object(
  {
    id: Id,
    name: Type.String(),
    /** The first characters of the key, by which people recognise it. */
    prefix: Type.String(),
    scopes: Type.Array(Type.String()),
    createdAt: Instant,
    expiresAt: nullable(Instant),
    /** Up to a minute old; null when the key was never used. */
    lastUsedAt: nullable(Instant),
    /** Number of sessions that were opened with the key and have not ended. */
    sessionCount: Type.Integer(),
    /** Whether the key also belongs to other workspaces. */
    isShared: Type.Boolean(),
    /** Whether the session's scopes suffice to revoke the key. */
    isRevocable: Type.Boolean(),
  },
  { $id: "DashboardApiKey" },
);
export type DashboardApiKey = Static<typeof DashboardApiKey>;

/**
 * Answer of `GET /app/api/keys`: the keys of the workspace, newest first, without revoked ones and
 * those that expired over a week ago.
 */
export const DashboardApiKeyList = Type.Object(
  { keys: Type.Array(DashboardApiKey) },
  { $id: "DashboardApiKeyList" },
);
export type DashboardApiKeyList = Static<typeof DashboardApiKeyList>;

/** Body of `POST /app/api/keys`. */
export const NewDashboardApiKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    /** At most those of the session. */
    scopes: Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 20 }),
    expiresAt: Type.Optional(Type.String({ format: "date-time" })),
  },
  { additionalProperties: false },
);
export type NewDashboardApiKey = Static<typeof NewDashboardApiKey>;

/** Answer of `POST /app/api/keys`. */
export const CreatedDashboardApiKey = Type.Object(
  {
    /** The key itself. No other answer contains it. */
    secret: Type.String(),
    key: DashboardApiKey,
  },
  { $id: "CreatedDashboardApiKey" },
);
export type CreatedDashboardApiKey = Static<typeof CreatedDashboardApiKey>;
