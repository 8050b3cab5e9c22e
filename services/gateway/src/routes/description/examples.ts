import { type DescribedOperation, JSON_TYPE } from "./document.ts";
import { ACCOUNT_EXAMPLES } from "./examples/accounts.ts";
import { AUTOMATION_EXAMPLES } from "./examples/automations.ts";
import { COMMENT_EXAMPLES } from "./examples/comments.ts";
import type { OperationExamples } from "./examples/example.ts";
import { MEDIA_EXAMPLES } from "./examples/media.ts";
import { POST_EXAMPLES } from "./examples/posts.ts";
import { QUEUE_SLOT_EXAMPLES } from "./examples/queue-slots.ts";
import { WEBHOOK_EXAMPLES } from "./examples/webhooks.ts";

/** The examples of the requests and answers of each operation, by the id of the operation. */
const EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...ACCOUNT_EXAMPLES,
  ...POST_EXAMPLES,
  ...MEDIA_EXAMPLES,
  ...QUEUE_SLOT_EXAMPLES,
  ...WEBHOOK_EXAMPLES,
  ...COMMENT_EXAMPLES,
  ...AUTOMATION_EXAMPLES,
};

function exampleContents(
  { responses }: DescribedOperation,
  answers: NonNullable<OperationExamples["answers"]>,
) {
  return Object.entries(answers).flatMap(([status, value]) => {
    const content = responses[status]?.content?.[JSON_TYPE];
    return content === undefined ? [] : [{ content, value }];
  });
}

/** Adds the examples of requests and answers to an operation. */
export function describeExamples(operation: DescribedOperation): void {
  const { requests, answers = {} } = EXAMPLES[operation.operationId ?? ""] ?? {};
  const body = operation.requestBody?.content[JSON_TYPE];
  if (body !== undefined && requests !== undefined) body.examples = { ...requests };
  for (const { content, value } of exampleContents(operation, answers)) content.example = value;
}
