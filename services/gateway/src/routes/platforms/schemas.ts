import { PlatformIdSchema } from "@postrider/rest/platform-id";
import { nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

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
