import { isDeepStrictEqual } from "node:util";
import { isObject } from "@postrider/shared/is-object";
import type { JsonObject } from "./document.ts";

/** Names of the fields with fixed values that can never get further values. */
const CLOSED = new Set(["Weekday"]);

const REFERENCE = "#/components/schemas/";
const SENTENCE = "More values may be added.";

function collect(part: unknown, schemas: Record<string, object>, names: Set<string>): void {
  if (typeof part !== "object" || part === null) return;
  const reference = "$ref" in part ? part.$ref : undefined;
  if (typeof reference === "string" && reference.startsWith(REFERENCE)) {
    const name = reference.slice(REFERENCE.length);
    if (names.has(name)) return;
    names.add(name);
    collect(schemas[name], schemas, names);
    return;
  }
  for (const member of Object.values(part)) collect(member, schemas, names);
}

/**
 * Says of each named field with fixed values that answers or webhooks can contain that it may get
 * further values: in its description for people, and as `x-postrider-may-grow` for programs.
 * Clients must not fail on a value that is new to them.
 *
 * @param answers The parts of the API description that Postrider sends.
 */
export function describeGrowingValues(answers: unknown, schemas: Record<string, object>): void {
  const names = new Set<string>();
  collect(answers, schemas, names);
  for (const name of names) {
    const schema = schemas[name] as JsonObject | undefined;
    if (schema?.["enum"] === undefined || CLOSED.has(name)) continue;
    const description = typeof schema["description"] === "string" ? schema["description"] : "";
    const isSaid = description.includes("may be added");
    schemas[name] = {
      ...schema,
      description: isSaid ? description : `${description} ${SENTENCE}`.trim(),
      "x-postrider-may-grow": true,
    };
  }
}

const DATA = new Set(["example", "examples", "enum", "const", "default", "value"]);

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

const EXTENSION = "x-postrider-extension";

function isNullable({ type }: JsonObject): boolean {
  return Array.isArray(type) && type.includes("null");
}

/**
 * Returns a part of the API description in which a reference stands for each schema with a name,
 * that is, with a `title`. The schemas are added to `schemas` under their names.
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
 * Whether a member is a schema although its name usually stands for data. For example, a property
 * of an object can be called `value`.
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
  // Also on the field, which is what the interface does not have.
  const mark = EXTENSION in schema ? { [EXTENSION]: schema[EXTENSION] } : {};
  const about = { ...(description === knownDescription ? {} : { description }), ...mark };
  return isNullable(found)
    ? { anyOf: [reference, { type: "null" }], ...about }
    : { ...reference, ...about };
}
