import { enumeration, Id, Instant, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { PAGE } from "#src/routes/automations/page.ts";
import { MAX_PLATFORM_ID_LENGTH } from "#src/routes/request.ts";

/** In bytes of UTF-8. Source: API contract, section 8. */
export const MAX_MESSAGE_BYTES = 1_000;

const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "\\S",
  description: "Text that is not only white space.",
});
const Keyword = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "\\S",
  description: "A word or phrase, compared without regard to case and width.",
});
const Keywords = Type.Array(Keyword, { minItems: 1, maxItems: 50 });
const ExcludeKeywords = Type.Array(Keyword, {
  maxItems: 50,
  description: "A comment with one of these gets no private reply.",
});
const MediaIds = Type.Unsafe<string[] | null>({
  type: ["array", "null"],
  items: { type: "string", minLength: 1, maxLength: MAX_PLATFORM_ID_LENGTH },
  maxItems: 100,
  uniqueItems: true,
  description:
    "The platform's ids of the media whose comments the rule reads; null = all media of the account.",
});
const Match = enumeration(
  "RuleMatch",
  ["any", "all", "exact"],
  "any, all: the comment contains one or all of the keywords. exact: the whole comment equals one of them.",
);
const Message = Type.String({
  minLength: 1,
  maxLength: MAX_MESSAGE_BYTES,
  pattern: "\\S",
  description: "Text of the private reply, at most 1,000 bytes in UTF-8.",
});
const RuleStatus = enumeration("RuleStatus", ["draft", "active", "paused", "revoked"]);

/** The fields of an automation rule in the examples of the API description. */
export const RULE_EXAMPLE = {
  accountId: "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1a",
  name: "Price list",
  mediaIds: null,
  keywords: ["price", "가격"],
  match: "any",
  excludeKeywords: ["refund"],
  message: "Here is our price list: https://example.com/prices",
};

export const AutomationRule = Type.Object(
  {
    id: Id,
    accountId: Id,
    name: Type.String(),
    mediaIds: MediaIds,
    keywords: Type.Array(Type.String()),
    match: Match,
    excludeKeywords: Type.Array(Type.String()),
    message: Type.String(),
    status: RuleStatus,
    createdAt: Instant,
    updatedAt: Instant,
  },
  {
    $id: "AutomationRule",
    description: "Which comments of an account get which private reply.",
    examples: [
      {
        id: "01a19d00-4a5b-7c6d-8e7f-8091a2b3c4d5",
        ...RULE_EXAMPLE,
        status: "draft",
        createdAt: "2026-11-20T15:00:00.000Z",
        updatedAt: "2026-11-20T15:00:00.000Z",
      },
    ],
  },
);

export const AutomationRuleList = Type.Object(
  { rules: Type.Array(ref(AutomationRule)), nextCursor: nullable(Type.String()) },
  { $id: "AutomationRuleList" },
);

export const CreateAutomationRule = Type.Object(
  {
    accountId: Id,
    name: Name,
    mediaIds: Type.Optional(MediaIds),
    keywords: Keywords,
    match: Type.Optional(Match),
    excludeKeywords: Type.Optional(ExcludeKeywords),
    message: Message,
  },
  { $id: "CreateAutomationRule", additionalProperties: false, examples: [RULE_EXAMPLE] },
);

export const UpdateAutomationRule = Type.Object(
  {
    name: Type.Optional(Name),
    mediaIds: Type.Optional(MediaIds),
    keywords: Type.Optional(Keywords),
    match: Type.Optional(Match),
    excludeKeywords: Type.Optional(ExcludeKeywords),
    message: Type.Optional(Message),
    status: Type.Optional(RuleStatus),
  },
  {
    $id: "UpdateAutomationRule",
    additionalProperties: false,
    minProperties: 1,
    description:
      "Each field that is sent replaces the previous value of the field. A draft and a paused rule can be activated, an active rule paused, every rule revoked; the status that the rule already has changes nothing.",
    examples: [{ status: "active" }],
  },
);

export const ListAutomationRulesQuery = Type.Object(PAGE, { additionalProperties: false });
