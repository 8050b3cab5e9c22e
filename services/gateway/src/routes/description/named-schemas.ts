import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "./document.ts";

/** Members of a JSON schema whose values are data, not schemas. */
const DATA = new Set(["example", "examples", "enum", "const", "default", "value"]);

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Removes null from the types and values of a schema. */
function withoutNull(schema: JsonObject): JsonObject {
  const types = (schema["type"] as readonly string[]).filter((type) => type !== "null");
  const { enum: values } = schema;
  return {
    ...schema,
    type: types.length === 1 ? types[0] : types,
    ...(Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}),
  };
}

function isNullable({ type }: JsonObject): boolean {
  return Array.isArray(type) && type.includes("null");
}

/**
 * Returns a part of the API description in which a reference stands for each schema with a name, that is, with a
 * `title`. The schemas are added to `schemas` under their names.
 *
 * @throws Error Two different schemas have the same name.
 */
export function nameSchemas(part: unknown, schemas: Record<string, object>): unknown {
  if (Array.isArray(part)) return part.map((each) => nameSchemas(each, schemas));
  if (!isObject(part)) return part;
  const named = Object.fromEntries(
    Object.entries(part).map(([name, member]) => [
      name,
      DATA.has(name) && !isSchemaMap(member) ? member : nameSchemas(member, schemas),
    ]),
  );
  const { title: name, ...schema } = named;
  if (typeof name !== "string" || !("type" in schema)) return named;
  return refer(name, schema, schemas);
}

/**
 * Whether a member is a schema although its name usually stands for data. For example, a property of an object can be
 * called `value`.
 */
function isSchemaMap(member: unknown): boolean {
  return isObject(member) && ("type" in member || "$ref" in member) && "title" in member;
}

function refer(name: string, found: JsonObject, schemas: Record<string, object>): JsonObject {
  const schema = isNullable(found) ? withoutNull(found) : found;
  const known = (schemas[name] ??= schema) as JsonObject;
  const { description, ...content } = schema;
  const { description: knownDescription, ...knownContent } = known;
  if (!isDeepStrictEqual(content, knownContent))
    throw new Error(`two schemas have the name ${name}`);
  const reference = { $ref: `#/components/schemas/${name}` };
  const about = description === knownDescription ? {} : { description };
  return isNullable(found)
    ? { anyOf: [reference, { type: "null" }], ...about }
    : { ...reference, ...about };
}
