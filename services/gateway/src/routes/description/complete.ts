import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { describeConditionalRead } from "./conditional-reads.ts";
import { nameResult } from "./contract-names.ts";
import type { Components, DescribedOperation } from "./document.ts";
import { describeErrors } from "./error-answers.ts";
import { describeExamples } from "./examples.ts";
import { describeExclusiveFields } from "./exclusive-fields.ts";
import { describeGrowingValues } from "./growing-values.ts";
import { nameHeaders } from "./headers.ts";
import { describeIds } from "./ids.ts";
import { nameSchemas } from "./named-schemas.ts";
import { describeOptionalBody } from "./optional-bodies.ts";
import { describePhase } from "./tags.ts";
import { UPLOAD_PATH, uploadExamples } from "./uploads.ts";

type Complete = NonNullable<FastifyDynamicSwaggerOptions["transformObject"]>;

function completeOperation(operation: DescribedOperation, components: Components): void {
  describeOptionalBody(operation, components.schemas);
  describeErrors(operation, components);
  describePhase(operation);
  nameHeaders(operation, components);
  nameResult(operation, components.schemas);
  describeExamples(operation);
}

function sorted(members: Record<string, object>): Record<string, object> {
  const byName = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName);
}

/**
 * Completes the API description with what the schemas of routes cannot say, for example the headers of error answers
 * and the fields that exclude each other.
 */
export const completeDescription: Complete = (found) => {
  if (!("openapiObject" in found)) return found.swaggerObject;
  const { components, ...document } = found.openapiObject;
  const schemas = (components?.schemas ?? {}) as Record<string, object>;
  const paths = (document.paths ?? {}) as Record<string, Record<string, DescribedOperation>>;
  const parts: Components = { schemas, headers: {}, examples: uploadExamples() };
  for (const path of Object.values(paths)) {
    if (path["get"] !== undefined) describeConditionalRead(path["get"]);
    for (const operation of Object.values(path)) completeOperation(operation, parts);
  }
  describeExclusiveFields(schemas);
  const inline: Record<string, object> = {};
  const named = { ...(nameSchemas(schemas, inline) as object), ...inline };
  const described = nameSchemas(paths, named) as typeof paths;
  describeIds([named, described]);
  const operations = Object.values(described).flatMap((path) => Object.values(path));
  const answers = operations.map(({ responses }) => responses);
  describeGrowingValues([answers, "webhooks" in document ? document.webhooks : {}], named);
  const completed: object = {
    ...document,
    paths: { ...described, ...UPLOAD_PATH },
    components: {
      ...components,
      schemas: sorted(named),
      headers: sorted(parts.headers),
      examples: sorted(parts.examples),
    },
  };
  return completed;
};
