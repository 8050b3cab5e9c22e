import { Type } from "typebox";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { Id, Instant, nullable, ref } from "#src/schemas.ts";

const AccountFeature = Type.Unsafe<string>({
  type: "string",
  enum: ["publishing", "comments", "messages", "metrics"],
});

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
    permissions: nullable(
      Type.Object(
        {
          granted: Type.Array(AccountFeature, {
            description: "What the account may be used for, whether or not it is turned on here.",
          }),
          missing: Type.Array(AccountFeature, {
            description: "What is turned on here and needs the account to be connected again.",
          }),
        },
        {
          description: "null: the account was connected before this was recorded.",
        },
      ),
    ),
  },
  { $id: "Account" },
);
