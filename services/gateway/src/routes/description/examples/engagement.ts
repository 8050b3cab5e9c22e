import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { BACKFILL_EXAMPLE } from "#src/routes/automations/backfill-schemas.ts";
import { RULE_EXAMPLE } from "#src/routes/automations/rule-schemas.ts";
import { COMMENT_EXAMPLE } from "#src/routes/comments/schemas.ts";
import { EXAMPLE_IDS, type OperationExamples } from "./example.ts";

const { "comment_action.completed": action } = EXAMPLE_DATA;

export const COMMENT_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listComments: { answers: { 200: { comments: [COMMENT_EXAMPLE], nextCursor: null } } },
  requestCommentAction: {
    requests: {
      reply: {
        summary: "Reply",
        value: { type: "reply", text: "Yes, we are open on Sunday." },
      },
      hide: { summary: "Hide the comment", value: { type: "hide" } },
    },
    answers: { 202: { ...action, status: "pending", finishedAt: null } },
  },
  getCommentAction: { answers: { 200: action } },
};

const RULE = {
  id: EXAMPLE_IDS.rule,
  ...RULE_EXAMPLE,
  status: "draft",
  createdAt: "2026-11-20T15:00:00.000Z",
  updatedAt: "2026-11-20T15:00:00.000Z",
};
const { results: _, nextCursor: __, ...SUMMARY } = BACKFILL_EXAMPLE;

const RULES: Readonly<Record<string, OperationExamples>> = {
  listAutomationRules: { answers: { 200: { rules: [RULE], nextCursor: null } } },
  createAutomationRule: {
    requests: { prices: { summary: "Answer questions about prices", value: RULE_EXAMPLE } },
    answers: { 201: RULE },
  },
  updateAutomationRule: {
    requests: {
      activate: { summary: "Activate the rule", value: { status: "active" } },
      keywords: { summary: "Change the keywords", value: { keywords: ["price", "cost"] } },
    },
    answers: { 200: { ...RULE, status: "active" } },
  },
  listAutomationRuns: {
    answers: { 200: { runs: [EXAMPLE_DATA["automation_run.completed"]], nextCursor: null } },
  },
};

export const AUTOMATION_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...RULES,
  previewBackfill: {
    answers: {
      200: {
        comments: [{ comment: COMMENT_EXAMPLE, outcome: "prepare", reason: null }],
        nextCursor: null,
      },
    },
  },
  listBackfills: { answers: { 200: { backfills: [SUMMARY], nextCursor: null } } },
  createBackfill: {
    requests: {
      media: {
        summary: "Try the rule on the past comments of one media",
        value: { ruleId: EXAMPLE_IDS.rule, mediaId: BACKFILL_EXAMPLE.mediaId },
      },
    },
    answers: { 202: BACKFILL_EXAMPLE },
  },
  getBackfill: { answers: { 200: BACKFILL_EXAMPLE } },
  updateBackfill: {
    requests: { pause: { summary: "Pause the job", value: { action: "pause" } } },
    answers: { 200: BACKFILL_EXAMPLE },
  },
};
