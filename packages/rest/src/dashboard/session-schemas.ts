import { type Static, Type } from "typebox";
import { enumeration, Id, ID_PATTERN, Instant, nullable } from "#src/schemas.ts";

/** The API key with which a session was opened. */
const SessionKey = Type.Object({
  id: Id,
  name: Type.String(),
  /** The first characters of the key, by which people recognise it. */
  prefix: Type.String(),
});

/** A browser that is logged in to the dashboard of one workspace. */
export const DashboardSession = Type.Object(
  {
    id: Id,
    openedWith: enumeration("SessionOpenedWith", ["link", "key"]),
    /** Null for a session that was opened with a login link. */
    key: nullable(SessionKey),
    /** At most the scopes of the key. */
    scopes: Type.Array(Type.String()),
    /**
     * Browser and system in few words, such as `Firefox on Linux`; null when they are not known.
     */
    userAgent: nullable(Type.String()),
    createdAt: Instant,
    /** Up to a minute old. */
    lastSeenAt: Instant,
    /** The session ends then, or earlier when it is not used. */
    expiresAt: Instant,
    /** Whether it is the session of this request. */
    isCurrent: Type.Boolean(),
  },
  { $id: "DashboardSession" },
);
export type DashboardSession = Static<typeof DashboardSession>;

/** Answer of `GET` and `POST /app/api/session`. */
export const CurrentSession = Type.Object(
  {
    ...DashboardSession.properties,
    /** Without verification, posts can be read and drafted but not published. */
    workspace: Type.Object({ id: Id, name: Type.String(), verified: Type.Boolean() }),
    /** Where uploads may go besides this origin. */
    uploadOrigins: Type.Array(Type.String()),
    /** Version of Postrider. */
    version: Type.String(),
  },
  { $id: "CurrentSession" },
);
export type CurrentSession = Static<typeof CurrentSession>;

/** Answer of `GET /app/api/sessions`: all sessions of the workspace, newest first. */
export const DashboardSessionList = Type.Object(
  { sessions: Type.Array(DashboardSession) },
  { $id: "DashboardSessionList" },
);
export type DashboardSessionList = Static<typeof DashboardSessionList>;

/** Body of `POST /app/api/session`: either the token of a login link, or an API key. */
export const LoginRequest = Type.Object(
  {
    token: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    apiKey: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    /** Needed when the key belongs to several workspaces. */
    workspaceId: Type.Optional(Type.String({ pattern: ID_PATTERN })),
  },
  { additionalProperties: false },
);
export type LoginRequest = Static<typeof LoginRequest>;
