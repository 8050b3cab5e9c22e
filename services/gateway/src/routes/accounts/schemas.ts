import { Type } from "typebox";
import { PlatformIdSchema } from "#src/routes/platforms/schemas.ts";
import { Id, Instant, nullable, ref } from "#src/routes/schema.ts";

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
