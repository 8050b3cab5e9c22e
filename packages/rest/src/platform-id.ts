import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { Type } from "typebox";

export const PlatformIdSchema = Type.Unsafe<string>({
  $id: "PlatformId",
  type: "string",
  enum: [...PLATFORM_IDS],
});
