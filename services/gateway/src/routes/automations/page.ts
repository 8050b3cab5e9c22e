import { Id } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { CURSOR } from "#src/routes/schemas.ts";

/** Query parameters of every list of automations. */
export const PAGE = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: "1 to 100, default 20." }),
  ),
  cursor: CURSOR,
};

export const RuleId = Type.String({
  ...Id,
  description: "The id of a rule that GET /automations/partner-dm-rules lists.",
});
