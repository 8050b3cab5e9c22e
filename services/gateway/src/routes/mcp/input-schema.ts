import { fromJsonSchema, type StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { describeField, quoteFound, typeOf } from "#src/http/expected-values.ts";
import { findIntendedField } from "#src/http/field-aliases.ts";
import type { Tool } from "./tool.ts";

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

/** JSON schema of the inputs of an MCP tool. */
function toInputSchema({ inputs, required = [] }: Tool): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    properties: inputs,
    required: [...required],
    additionalProperties: false,
  };
}

/** Returns the known arguments that the texts of the library's validator are about, such as `data/limit must be integer`. */
function namesOf({ inputs }: Tool, texts: readonly string[]): readonly string[] {
  const text = texts.join(", ");
  const named = [...text.matchAll(/data\/(\w+)|required property '(\w+)'/g)];
  const names = named.map(([, faulty, missing]) => faulty ?? missing ?? "");
  return [...new Set(names)].filter((name) => Object.hasOwn(inputs, name)).slice(0, MAX_NAMED);
}

/** Says what is wrong with an argument and what to send, because the library's validator names neither the value nor the choices. */
function describeFault({ inputs, required = [] }: Tool, name: string, data: unknown): string {
  const value = (data as Readonly<Record<string, unknown>> | null)?.[name];
  const sent = value === undefined ? "missing" : (quoteFound(value) ?? typeOf(value));
  const expected = describeField(inputs[name]);
  const isOptional = value !== undefined && !required.includes(name);
  return `${name} is ${sent}; send ${expected ?? "what its schema allows"}${isOptional ? ", or leave it out" : ""}`;
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
 * Returns the input schema of an MCP tool for the MCP library. Its validator names arguments that the tool does not have, which
 * the library's own validator leaves out of its message.
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
        if (result.issues === undefined) return result;
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
