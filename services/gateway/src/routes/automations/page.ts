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

/** A page of 100 rules with as many keywords and media as a rule can have. */
export const PAGE_BYTES = 5 * 1024 * 1024;
