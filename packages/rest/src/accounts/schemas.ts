import { Type } from "typebox";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { Id, Instant, nullable, ref } from "#src/schemas.ts";

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
