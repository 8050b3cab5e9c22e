import type { Tool } from "./tool.ts";

type Schema = Readonly<Record<string, unknown>>;

/** JSON schema of the inputs of an MCP tool. */
export function toInputSchema({ inputs, required = [] }: Tool): Schema {
  return {
    type: "object",
    properties: inputs,
    required: [...required],
    additionalProperties: false,
  };
}

const PREFIX = "#/components/schemas/";

/** Copies a schema of the API description for an MCP tool. In the copy, references lead to the tool's own `$defs`. */
function relink(value: unknown, found: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => relink(item, found));
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "$id" && !name.startsWith("x-"))
      .map(([name, member]) => {
        if (name !== "$ref" || typeof member !== "string") return [name, relink(member, found)];
        const target = member.slice(PREFIX.length);
        found.add(target);
        return [name, `#/$defs/${target}`];
      }),
  );
  return splitTypes(copy);
}

/**
 * Writes a schema of a value or null as two schemas with one type each. Some agents translate schemas for models that
 * take no list of types, and would drop the field or refuse the MCP tool.
 */
function splitTypes(schema: Schema): Schema {
  const { type: types, description, ...rest } = schema;
  if (!Array.isArray(types)) return schema;
  return {
    ...(description === undefined ? {} : { description }),
    anyOf: types.map((type: unknown) =>
      type === "null" ? { type } : { type, ...withoutNull(rest) },
    ),
  };
}

function withoutNull(schema: Schema): Schema {
  const { enum: values } = schema;
  return Array.isArray(values)
    ? { ...schema, enum: values.filter((value) => value !== null) }
    : schema;
}

const ZONED_TIME: Schema = {
  anyOf: [{ type: "string" }, { type: "null" }],
  description: "scheduledAt in the zone, for people; null without a time.",
};

/**
 * JSON schema of the result of an MCP tool, made from the schemas of the API description. An answer without a body is
 * an empty object.
 */
export function toOutputSchema(
  { output, showsZonedTime }: Tool,
  schemas: Readonly<Record<string, unknown>>,
): Schema {
  const found = new Set<string>();
  const link = (name: string) => relink({ $ref: `${PREFIX}${name}` }, found) as Schema;
  const own =
    typeof output === "string"
      ? { allOf: [link(output)] }
      : {
          properties: {
            ...Object.fromEntries(Object.entries(output).map(([key, name]) => [key, link(name)])),
            ...(showsZonedTime === true ? { scheduledAtInZone: ZONED_TIME } : {}),
          },
          required: Object.keys(output),
        };
  const defs: Record<string, unknown> = {};
  // A schema can refer to further schemas. `relink` adds their names to `found`, and the loop reaches them later.
  for (const name of found) defs[name] = relink(schemas[name], found);
  return { type: "object", ...own, $defs: defs };
}
