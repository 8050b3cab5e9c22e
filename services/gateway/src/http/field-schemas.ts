import { describeExpected, type ExpectedSchema, toPhrase } from "#src/http/expected-values.ts";

/**
 * A request schema, or the schema of one of its fields or items. It has the members that lead to the schemas of further
 * fields.
 */
export interface NestedSchema extends Omit<ExpectedSchema, "items" | "properties"> {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, NestedSchema>>;
  readonly items?: NestedSchema;
  readonly additionalProperties?: NestedSchema | boolean;
}

/** Returns the schema that a `$ref` names. */
export type FindSchema = (name: string) => NestedSchema | undefined;

function resolve(schema: NestedSchema, find: FindSchema): NestedSchema | undefined {
  return schema.$ref === undefined ? schema : find(schema.$ref.replace(/#$/, ""));
}

function childOf(schema: NestedSchema, name: string): NestedSchema | undefined {
  const { properties = {}, items, additionalProperties: others, description } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  // A schema of a list item without a description gets the description of the list.
  if (items !== undefined) return description === undefined ? items : { description, ...items };
  return typeof others === "object" ? others : undefined;
}

/**
 * Says in English what the field at a JSON Pointer accepts and is for; undefined if the schema says neither. The text
 * is added to errors of services: a service knows that a value is not valid, but not how the schema of the request
 * describes the value.
 */
export function describeFieldAt(
  schema: NestedSchema,
  path: string,
  find: FindSchema,
): string | undefined {
  let found = resolve(schema, find);
  for (const name of path.split("/").slice(1)) {
    const child = found === undefined ? undefined : childOf(found, name);
    found = child === undefined ? undefined : resolve(child, find);
  }
  if (found === undefined) return undefined;
  const { description } = found;
  const parts = [
    describeExpected(found),
    description === undefined ? undefined : toPhrase(description),
  ];
  return parts.filter((part) => part !== undefined).join(": ") || undefined;
}
