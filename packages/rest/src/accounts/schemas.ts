import { Type } from "typebox";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { enumeration, Id, Instant, nullable, ref } from "#src/schemas.ts";

const AccountFeature = enumeration("AccountFeature", [
  "publishing",
  "comments",
  "messages",
  "metrics",
]);

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
    accessEndedAt: nullable({
      ...Instant,
      description:
        "When the platform refused the account's access; null while it accepts it, and after an import.",
      "x-postrider-extension": true,
    }),
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
          "x-postrider-extension": true,
        },
      ),
    ),
  },
  { $id: "Account" },
);
