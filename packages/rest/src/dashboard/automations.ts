import { Type, type Static } from "typebox";
import { BoundedCount } from "#src/dashboard/parts.ts";
import { nullable } from "#src/schemas.ts";

/** `POST /app/api/automations/try`: one text against a rule that need not be stored. */
export const TryRule = Type.Object(
  {
    rule: Type.Object(
      {
        keywords: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
          minItems: 1,
          maxItems: 50,
        }),
        match: Type.Optional(
          Type.Unsafe<"any" | "all" | "exact">({ type: "string", enum: ["any", "all", "exact"] }),
        ),
        excludeKeywords: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
        ),
        message: Type.String({ maxLength: 1000 }),
      },
      { additionalProperties: false },
    ),
    text: Type.String({ maxLength: 10_000 }),
  },
  { additionalProperties: false },
);

export const TriedRule = Type.Object({
  /** `excluded`: a keyword and an excluded word are in the text. */
  outcome: Type.Unsafe<"reply" | "excluded" | "no_match">({
    type: "string",
    enum: ["reply", "excluded", "no_match"],
  }),
  /** What would be sent; null unless the outcome is `reply`. */
  message: nullable(Type.String()),
  /** The keywords, and the excluded words, that are in the text. */
  keywords: Type.Array(Type.String()),
  excluded: Type.Array(Type.String()),
  /** Whether the operator has enabled sending; otherwise a live rule only prepares replies. */
  sendingEnabled: Type.Boolean(),
});

/** What each rule of `GET /app/api/automations/rules` has beside what `/api/v1` answers. */
export const RuleFacts = Type.Object({ runs: BoundedCount });

/** What each run of `GET /app/api/automations/runs` has beside what `/api/v1` answers. */
export const RunFacts = Type.Object({
  /** The first 200 characters of the comment; null when the inbox does not have it. */
  text: nullable(Type.String()),
});

export type RuleFactsJson = Static<typeof RuleFacts>;
export type RunFactsJson = Static<typeof RunFacts>;
export type TryRuleJson = Static<typeof TryRule>;
export type TriedRuleJson = Static<typeof TriedRule>;
