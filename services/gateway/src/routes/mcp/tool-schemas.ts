import { fromJsonSchema, type StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { describeField, quoteFound, typeOf } from "#src/http/expected-values.ts";
import { findIntendedField } from "#src/http/field-aliases.ts";
import type { Tool } from "./tool.ts";

type Schema = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, unknown>>;

const PREFIX = "#/components/schemas/";
/**
 * How deep the output schema of an MCP tool describes objects inside of objects, for tools that
 * read and for others. Each model reads the schemas of all tools before it begins, so they name the
 * fields that a result has, and leave what is inside of these fields to the result itself.
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
 * Returns a short form of a schema of the API description, which every value of that schema fits.
 * Returns undefined for a value that may be null, because its schema would be long: the result
 * itself shows what it is.
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

/** Maximum number of unknown arguments that an error names, and of characters of each name. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 60;

/** Says that an MCP tool has no argument of this name, and which one the agent probably means. */
function describeUnknown(name: string, known: readonly string[]): string {
  const shown = JSON.stringify(name.slice(0, MAX_NAME_LENGTH));
  const meant = findIntendedField(name, known);
  const advice =
    meant === undefined
      ? `the arguments are ${known.length === 0 ? "none" : known.join(", ")}`
      : `use ${meant}`;
  return `there is no argument ${shown}; ${advice}`;
}

function toInputSchema({ inputs, required = [] }: Tool): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    properties: inputs,
    required: [...required],
    additionalProperties: false,
  };
}

/**
 * Returns the known arguments that the texts of the library's validator are about, such as
 * `data/limit must be integer`.
 */
function namesOf({ inputs }: Tool, texts: readonly string[]): readonly string[] {
  const text = texts.join(", ");
  const named = [...text.matchAll(/data\/(\w+)|required property '(\w+)'/g)];
  const names = named.map(([, faulty, missing]) => faulty ?? missing ?? "");
  return [...new Set(names)].filter((name) => Object.hasOwn(inputs, name)).slice(0, MAX_NAMED);
}

/** Whether the call still means the same without an argument that has no valid value. */
function canLeaveOut(
  { required = [], findContradiction }: Tool,
  name: string,
  data: Readonly<Record<string, unknown>>,
): boolean {
  const isFree = (input: typeof data) => findContradiction?.(input) === undefined;
  return !required.includes(name) && isFree(data) && isFree({ ...data, [name]: undefined });
}

/**
 * Says what is wrong with an argument and what to send, because the library's validator names
 * neither the value nor the choices.
 */
function describeFault(tool: Tool, name: string, data: unknown): string {
  const values = (data ?? {}) as Readonly<Record<string, unknown>>;
  const value = values[name];
  const sent = value === undefined ? "missing" : (quoteFound(value) ?? typeOf(value));
  const expected = describeField(tool.inputs[name]);
  const advice = value !== undefined && canLeaveOut(tool, name, values) ? ", or leave it out" : "";
  return `${name} is ${sent}; send ${expected ?? "what its schema allows"}${advice}`;
}

function findUnknown({ inputs }: Tool, data: unknown): readonly string[] {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return [];
  const known = Object.keys(inputs);
  return Object.keys(data)
    .filter((name) => !Object.hasOwn(inputs, name))
    .slice(0, MAX_NAMED)
    .map((name) => describeUnknown(name, known));
}

/**
 * Returns the input schema of an MCP tool for the MCP library. Its validator names arguments that
 * the tool does not have, which the library's own validator leaves out of its message.
 */
export function createInputSchema(tool: Tool): StandardSchemaWithJSON {
  const schema = fromJsonSchema(toInputSchema(tool));
  const standard = schema["~standard"];
  return {
    "~standard": {
      ...standard,
      validate: async (data, options) => {
        const unknown = findUnknown(tool, data);
        if (unknown.length > 0) return { issues: unknown.map((message) => ({ message })) };
        const result = await standard.validate(data, options);
        if (result.issues === undefined) {
          const message = tool.findContradiction?.(data as Readonly<Record<string, unknown>>);
          return message === undefined ? result : { issues: [{ message }] };
        }
        const texts = result.issues.map(({ message }) => message.replaceAll(/\bdata\//g, ""));
        const names = namesOf(
          tool,
          result.issues.map(({ message }) => message),
        );
        const advice = names.map((name) => describeFault(tool, name, data));
        return { issues: [...texts, ...advice].map((message) => ({ message })) };
      },
    },
  };
}
