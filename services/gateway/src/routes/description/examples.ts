import { ACCOUNT_EXAMPLES } from "#src/routes/description/examples/accounts.ts";
import {
  AUTOMATION_EXAMPLES,
  COMMENT_EXAMPLES,
} from "#src/routes/description/examples/engagement.ts";
import type { OperationExamples } from "#src/routes/description/examples/example.ts";
import { POST_EXAMPLES } from "#src/routes/description/examples/posts.ts";
import {
  MEDIA_EXAMPLES,
  QUEUE_SLOT_EXAMPLES,
} from "#src/routes/description/examples/publishing.ts";
import { WEBHOOK_EXAMPLES } from "#src/routes/description/examples/webhooks.ts";
import { type DescribedOperation, JSON_TYPE } from "./document.ts";

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

export function describeExamples(operation: DescribedOperation): void {
  const { requests, answers = {} } = EXAMPLES[operation.operationId ?? ""] ?? {};
  const body = operation.requestBody?.content[JSON_TYPE];
  if (body !== undefined && requests !== undefined) body.examples = { ...requests };
  for (const { content, value } of exampleContents(operation, answers)) content.example = value;
}
