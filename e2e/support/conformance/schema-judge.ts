import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { ApiDocument, Schema } from "./document.ts";

const RFC_3339 =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  const isWritten = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(at.getTime());
  return isWritten && at.toISOString().startsWith(text);
}

/** Validates JSON values against the schemas of the API description. */
export interface SchemaJudge {
  /** Returns each way in which a JSON value violates the schema; an empty list if it fits. */
  faultsOf(schema: Schema, value: unknown): readonly string[];
}

function describe({ instancePath, keyword, params, message = "" }: ErrorObject): string {
  const { additionalProperty } = params;
  const more = typeof additionalProperty === "string" ? ` "${additionalProperty}"` : "";
  return `${instancePath} ${keyword}${more} ${message}`.trim();
}

/**
 * Returns the schema with `additionalProperties: false` in every object, so that a field of an
 * answer that is not described counts as a violation. The parts of an `allOf` are left open,
 * because each describes only some of the fields.
 */
function closeObjects(schema: unknown, isOpen = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => closeObjects(each, isOpen));
  if (typeof schema !== "object" || schema === null) return schema;
  const { properties } = schema as Schema;
  const members = Object.entries(schema).map(([key, member]) => {
    if (key === "not" || key === "examples" || key === "example") return [key, member];
    if (key !== "properties") return [key, closeObjects(member, key === "allOf")];
    const closed = Object.entries(member as object).map(([name, each]) => [
      name,
      closeObjects(each),
    ]);
    return [key, Object.fromEntries(closed)];
  });
  const isClosed = properties === undefined || isOpen || "additionalProperties" in schema;
  return Object.fromEntries(isClosed ? members : [...members, ["additionalProperties", false]]);
}

/**
 * Creates the validation of answers, in which every field that no schema describes is a violation.
 */
export function createSchemaJudge(document: ApiDocument): SchemaJudge {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("uuid", UUID);
  ajv.addFormat("uri", (text: string) => URL.parse(text) !== null);
  ajv.addFormat("date", isDate);
  ajv.addFormat(
    "date-time",
    (text: string) => RFC_3339.test(text) && !Number.isNaN(Date.parse(text.toUpperCase())),
  );
  const components = { schemas: closeNamed(document.components.schemas) };
  ajv.addSchema({ $id: "api:/document", components });
  const compiled = new Map<string, ValidateFunction>();
  const compile = (schema: Schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"api:/document#/components');
    const found = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
    compiled.set(text, found);
    return found;
  };
  return {
    faultsOf: (schema, value) => {
      const validate = compile(schema);
      return validate(value) ? [] : (validate.errors ?? []).map(describe);
    },
  };
}

/**
 * Adds `additionalProperties: false` to every named schema except those that are parts of an
 * `allOf`.
 */
function closeNamed(schemas: ApiDocument["components"]["schemas"]): Record<string, unknown> {
  const text = JSON.stringify(schemas);
  const parts = new Set<string>();
  for (const [, list = ""] of text.matchAll(/"allOf":\[([^\]]*)\]/g))
    for (const [, name = ""] of list.matchAll(/schemas\/([A-Za-z]+)"/g)) parts.add(name);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, closeObjects(schema, parts.has(name))]),
  );
}
