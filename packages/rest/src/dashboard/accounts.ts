import { Type, type Static } from "typebox";
import { Platform } from "#src/dashboard/parts.ts";
import { Id, Instant, nullable } from "#src/schemas.ts";

const returnTo = Type.Optional(
  Type.String({ maxLength: 500, pattern: "^/app(/[A-Za-z0-9/_-]*)?(\\?[A-Za-z0-9=&_-]*)?$" }),
);

/**
 * `POST /app/api/connect-links`: exactly one of a platform and an account that has to be connected
 * again. `returnTo` is a path below /app to which the browser returns once accounts are connected,
 * with `connected=ID,ID` added to its query; after a failure the page that says so has a link to
 * it. What waits for the account is retried afterwards with POST /app/api/accounts/{id}/retry.
 *
 * Bluesky and Telegram have no page on which an account is connected (`not_available`): POST
 * /app/api/accounts takes what a person enters.
 */
export const CreateConnectLink = Type.Object(
  { platform: Type.Optional(Platform), accountId: Type.Optional(Id), returnTo },
  { additionalProperties: false },
);

/**
 * `POST /app/api/accounts`: on bluesky `identifier` (handle) and `appPassword`, on telegram
 * `chatId` and `botToken`. Also connects an account again. The answer is the `Account` of /api/v1.
 */
export const ConnectAccount = Type.Object(
  {
    platform: Platform,
    login: Type.Unsafe<Record<string, string>>({
      type: "object",
      maxProperties: 4,
      additionalProperties: { type: "string", minLength: 1, maxLength: 1000 },
    }),
  },
  { additionalProperties: false },
);

export const ConnectLink = Type.Object({
  /** Of the authorization: GET /app/api/connect-links/{id} says what became of it. */
  id: Id,
  url: Type.String({ format: "uri" }),
  expiresAt: Instant,
});

/** `GET /app/api/connect-links/{id}`. */
export const ConnectLinkStatus = Type.Object({
  id: Id,
  /** `waiting`, `connected` or `failed`. */
  status: Type.String(),
  /** Why it failed: `denied`, `expired`, `permission_missing`, …; null otherwise. */
  failure: nullable(Type.String()),
  accountIds: Type.Array(Id),
});

/**
 * `POST /app/api/accounts/{id}/retry`: sends again what failed on this account and a retry can
 * mend, at most 50 posts a call, oldest first. A repeated call finds nothing that is already on its
 * way; with `after` it goes on behind the posts that were refused. With `postId` only that post is
 * sent again, and what refuses it is the error of the call.
 */
export const RetryAccountBody = Type.Object(
  {
    code: Type.Optional(Type.String({ maxLength: 64, description: "Only failures of this code." })),
    after: Type.Optional(Id),
    postId: Type.Optional(Id),
  },
  { additionalProperties: false },
);

export const AccountRetry = Type.Object({
  /** Targets that are sent again now. */
  retried: Type.Integer({ minimum: 0 }),
  /** Posts that were left as they are, for example because the quota is used up. */
  refused: Type.Array(Type.Object({ postId: Id, code: Type.String() })),
  /** Whether a further call would find more. */
  isMore: Type.Boolean(),
  /** If so, `after` of the further call. */
  nextAfter: nullable(Id),
});

export type ConnectAccountJson = Static<typeof ConnectAccount>;
export type CreateConnectLinkJson = Static<typeof CreateConnectLink>;
export type ConnectLinkJson = Static<typeof ConnectLink>;
export type ConnectLinkStatusJson = Static<typeof ConnectLinkStatus>;
export type RetryAccountBodyJson = Static<typeof RetryAccountBody>;
export type AccountRetryJson = Static<typeof AccountRetry>;
