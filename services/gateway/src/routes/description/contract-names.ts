import { type DescribedAnswer, type DescribedOperation, JSON_TYPE } from "./document.ts";

/**
 * Names of schemas that the API contract gives to the answers of operations on posts. Each of these schemas has the
 * fields of `PostDetail`.
 */
const RESULTS: Readonly<Record<string, readonly [status: string, name: string]>> = {
  createPost: ["202", "PostCreatedResult"],
  updatePost: ["200", "PostUpdateResult"],
  publishPost: ["202", "PostWriteResult"],
  retryPost: ["202", "PostWriteResult"],
};

function schemaOf(answer: DescribedAnswer | undefined) {
  return answer?.content?.[JSON_TYPE];
}

/** Gives the answer of an operation the name that the API contract has for it. */
export function nameResult(operation: DescribedOperation, schemas: Record<string, object>): void {
  const [status = "", name = ""] = RESULTS[operation.operationId ?? ""] ?? [];
  const content = schemaOf(operation.responses[status]);
  if (content?.schema === undefined) return;
  schemas[name] ??= { allOf: [content.schema], description: "The post as it is now." };
  content.schema = { $ref: `#/components/schemas/${name}` };
}
