import type { Description, Schema } from "./document.ts";

/** A JSON schema without references: its types, and its alternatives other than null. */
export interface FlatSchema {
  readonly types: ReadonlySet<string>;
  /** The alternatives of the schema; if it has no `anyOf` or `oneOf`, only the schema itself. */
  readonly variants: readonly Schema[];
}

function merge(schemas: readonly Schema[]): Schema {
  return {
    ...Object.assign({}, ...schemas),
    properties: Object.assign(
      {},
      ...schemas.map(({ properties = {} }) => properties),
    ) as NonNullable<Schema["properties"]>,
    required: [...new Set(schemas.flatMap(({ required = [] }) => required))],
  };
}

/** Replaces references by the schemas that they name, and merges the parts of `allOf`. */
function resolve(schema: Schema, description: Description): Schema {
  const { $ref, allOf, ...own } = schema;
  if ($ref !== undefined) {
    const found = description.components.schemas[$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`${$ref} does not exist`);
    return { ...resolve(found, description), ...own };
  }
  if (allOf === undefined) return schema;
  return merge([...allOf.map((part) => resolve(part, description)), own]);
}

function typesOf({ type, const: value, enum: values = [] }: Schema): readonly string[] {
  if (type !== undefined) return typeof type === "string" ? [type] : type;
  return [...new Set((value === undefined ? values : [value]).map((each) => typeof each))];
}

/** Returns the types and alternatives of a schema. `anyOf` with null counts as a type that can be null. */
export function flatten(schema: Schema, description: Description): FlatSchema {
  const resolved = resolve(schema, description);
  const choices = resolved.anyOf ?? resolved.oneOf;
  if (choices === undefined || resolved.type !== undefined)
    return { types: new Set(typesOf(resolved)), variants: [resolved] };
  const flat = choices.map((choice) => flatten(choice, description));
  return {
    types: new Set(flat.flatMap(({ types }) => [...types])),
    variants: flat.flatMap(({ variants }) => variants).filter(({ type }) => type !== "null"),
  };
}
