import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";

type Describe = NonNullable<FastifyDynamicSwaggerOptions["transformObject"]>;
type Operation = { readonly requestBody?: { required?: boolean } };
type Schemas = Record<string, object>;

const SCHEMA = /"#\/components\/schemas\/(\w+)"/;

/**
 * Describes optional request bodies as optional and not null in the API description. The framework passes an absent
 * body to the validator as null, but clients must not send null itself.
 */
export const describeOptionalBodies: Describe = (found) => {
  if (!("openapiObject" in found)) return found.swaggerObject;
  const { paths, components } = found.openapiObject;
  const schemas: Schemas = components?.schemas ?? {};
  for (const path of Object.values(paths ?? {}))
    for (const part of Object.values(path ?? {})) describe(part as Operation, schemas);
  return found.openapiObject;
};

function describe({ requestBody }: Operation, schemas: Schemas): void {
  const name = SCHEMA.exec(JSON.stringify(requestBody) ?? "")?.[1] ?? "";
  const schema = schemas[name];
  if (requestBody === undefined || schema === undefined || !isNullable(schema)) return;
  requestBody.required = false;
  schemas[name] = { ...schema, type: "object" };
}

function isNullable(schema: object): boolean {
  return "type" in schema && Array.isArray(schema.type) && schema.type.includes("null");
}
