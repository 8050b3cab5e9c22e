import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { describeConditionalRead } from "./conditional-reads.ts";
import { describeOptionalBody, type Schemas } from "./optional-bodies.ts";

type Complete = NonNullable<FastifyDynamicSwaggerOptions["transformObject"]>;

/** Adds to the API description what holds for operations of one kind, and what the schemas of routes cannot say. */
export const completeDescription: Complete = (found) => {
  if (!("openapiObject" in found)) return found.swaggerObject;
  const { paths, components } = found.openapiObject;
  const schemas: Schemas = components?.schemas ?? {};
  for (const path of Object.values(paths ?? {})) {
    for (const part of Object.values(path ?? {})) describeOptionalBody(part as object, schemas);
    if (path?.get !== undefined) describeConditionalRead(path.get);
  }
  return found.openapiObject;
};
