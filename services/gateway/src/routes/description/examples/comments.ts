import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { COMMENT_EXAMPLE } from "#src/routes/comments/schemas.ts";
import type { OperationExamples } from "./example.ts";

const { "comment_action.completed": action } = EXAMPLE_DATA;

/** The examples in the API description for operations on comments. */
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
