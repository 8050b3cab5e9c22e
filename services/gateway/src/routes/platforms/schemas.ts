import { PLATFORM_IDS } from "@postrider/platforms/registry";
import { Type } from "typebox";
import { nullable, ref } from "#src/routes/schemas.ts";

export const PlatformIdSchema = Type.Unsafe<string>({
  $id: "PlatformId",
  type: "string",
  enum: [...PLATFORM_IDS],
});

export const Platform = Type.Object(
  {
    id: ref(PlatformIdSchema),
    name: Type.String(),
    available: Type.Boolean(),
    unavailableReason: nullable(Type.String()),
    rules: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "Limits in bytes, in seconds and, for texts, in the unit that is given with each limit.",
      },
    ),
  },
  { $id: "Platform" },
);

export const PlatformList = Type.Object(
  { platforms: Type.Array(ref(Platform)) },
  { $id: "PlatformList" },
);
