import { PlatformIdSchema } from "@postrider/rest/platform-id";
import { enumeration, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { PlatformRulesSchema } from "#src/routes/platforms/rules-schema.ts";

export const Platform = Type.Object(
  {
    id: ref(PlatformIdSchema),
    name: Type.String(),
    available: Type.Boolean(),
    unavailableReason: nullable(
      enumeration(
        "UnavailableReason",
        ["not_configured"],
        "not_configured: the operator has not set up the platform. More reasons may be added.",
      ),
    ),
    rules: PlatformRulesSchema,
  },
  { $id: "Platform" },
);

export const PlatformList = Type.Object(
  { platforms: Type.Array(ref(Platform)) },
  { $id: "PlatformList" },
);
