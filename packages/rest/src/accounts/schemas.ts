import { Type } from "typebox";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { enumeration, Id, Instant, nullable, ref } from "#src/schemas.ts";

export const Account = Type.Object(
  {
    id: Id,
    platform: ref(PlatformIdSchema),
    externalId: Type.String({ description: "The platform's own id." }),
    username: Type.String(),
    displayName: Type.String(),
    avatarUrl: nullable(Type.String({ format: "uri" })),
    status: enumeration(
      "AccountStatus",
      ["active", "reconnect_required"],
      "reconnect_required: the platform no longer accepts the account's access; a person has to connect it again.",
    ),
    connectedAt: Instant,
    tokenExpiresAt: nullable(Instant),
  },
  { $id: "Account" },
);
