import { Type } from "typebox";
import { PlatformIdSchema } from "#src/routes/platforms/schemas.ts";
import { Id, Instant, nullable, ref } from "#src/routes/schemas.ts";

export const Account = Type.Object(
  {
    id: Id,
    platform: ref(PlatformIdSchema),
    externalId: Type.String({ description: "The platform's own id." }),
    username: Type.String(),
    displayName: Type.String(),
    avatarUrl: nullable(Type.String({ format: "uri" })),
    status: Type.Unsafe<string>({ type: "string", enum: ["active", "reconnect_required"] }),
    connectedAt: Instant,
    tokenExpiresAt: nullable(Instant),
  },
  { $id: "Account" },
);

export const AccountList = Type.Object(
  { accounts: Type.Array(ref(Account)) },
  { $id: "AccountList" },
);

/**
 * Headers of the answer to disconnecting an account. They say whether the platform was asked to revoke Postrider's
 * permission.
 */
export const REVOCATION_HEADERS = {
  "X-Provider-Revocation": {
    type: "string",
    enum: ["not_attempted", "unconfirmed"],
    description: "Whether the platform was asked to revoke the permission.",
  },
  "X-Provider-Revocation-Reason": {
    type: "string",
    enum: ["app_wide_grant", "not_verified", "not_configured", "already_disconnected"],
    description: "Why the platform was not asked; only with not_attempted.",
  },
};
