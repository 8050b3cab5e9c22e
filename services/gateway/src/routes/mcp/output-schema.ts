import type { Tool } from "./tool.ts";

type Schema = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, unknown>>;

const PREFIX = "#/components/schemas/";
/**
 * How deep the output schema of an MCP tool describes objects inside of objects, for tools that read and for others. Each model reads the schemas of all tools before it
 * begins, so they name the fields that a result has, and leave what is inside of these fields to the result itself.
 */
const DEPTH = { read: 2, write: 1 } as const;
/** Maximum number of allowed values that an output schema lists, for example those of a status. */
const MAX_VALUES = 8;

function resolve(schema: Schema, schemas: Schemas): Schema {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  return resolve((schemas[$ref.slice(PREFIX.length)] ?? {}) as Schema, schemas);
}

/** Schema of a text or null. Some agents take no list of types. */
const TEXT_OR_NULL: Schema = { anyOf: [{ type: "string" }, { type: "null" }] };

function shortenObject({ properties }: Schema, schemas: Schemas, depth: number): Schema {
  if (depth === 0 || typeof properties !== "object" || properties === null)
    return { type: "object" };
  const entries = Object.entries(properties).flatMap(([name, member]) => {
    const short = shorten(member as Schema, schemas, depth - 1);
    if (short !== undefined) return [[name, short] as const];
    // The cursor is what the next call of the tool needs.
    return name === "nextCursor" ? [[name, TEXT_OR_NULL] as const] : [];
  });
  return { type: "object", properties: Object.fromEntries(entries) as Schema };
}

/**
 * Returns a short form of a schema of the API description, which every value of that schema fits. Returns undefined for a value
 * that may be null, because its schema would be long: the result itself shows what it is.
 */
function shorten(described: Schema, schemas: Schemas, depth: number): Schema | undefined {
  const schema = resolve(described, schemas);
  const { type, enum: values, items } = schema;
  if (typeof type !== "string") return undefined;
  if (type === "object") return shortenObject(schema, schemas, depth);
  if (type === "array") {
    const short = shorten((items ?? {}) as Schema, schemas, depth);
    return short === undefined ? { type } : { type, items: short };
  }
  return Array.isArray(values) && values.length <= MAX_VALUES ? { type, enum: values } : { type };
}

/** JSON schema of the result of an MCP tool, made from the schemas of the API description. */
export function toOutputSchema(tool: Tool, schemas: Schemas): Schema {
  const { output, showsZonedTime, isReadOnly } = tool;
  const link = (name: string, depth: number) =>
    shorten({ $ref: `${PREFIX}${name}` }, schemas, depth) ?? { type: "object" };
  if (typeof output === "string")
    return link(output, isReadOnly === true ? DEPTH.read : DEPTH.write);
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(
        Object.entries(output).map(([key, name]) => [key, link(name, DEPTH.write)]),
      ),
      ...(showsZonedTime === true
        ? {
            scheduledAtInZone: {
              ...TEXT_OR_NULL,
              description: "scheduledAt in the zone, for people; null without a time.",
            },
          }
        : {}),
    },
    required: Object.keys(output),
  };
}
