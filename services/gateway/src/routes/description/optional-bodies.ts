type Operation = { readonly requestBody?: { required?: boolean } };
type Schemas = Record<string, object>;

const SCHEMA = /"#\/components\/schemas\/(\w+)"/;

/**
 * Describes the optional request body of an operation as optional and not null. The framework passes an absent body to the
 * validator as null, but clients must not send null itself.
 */
export function describeOptionalBody({ requestBody }: Operation, schemas: Schemas): void {
  const name = SCHEMA.exec(JSON.stringify(requestBody) ?? "")?.[1] ?? "";
  const schema = schemas[name];
  if (requestBody === undefined || schema === undefined || !isNullable(schema)) return;
  requestBody.required = false;
  schemas[name] = { ...schema, type: "object" };
}

function isNullable(schema: object): boolean {
  return "type" in schema && Array.isArray(schema.type) && schema.type.includes("null");
}
