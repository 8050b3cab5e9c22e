import type { Contents, Description, Operation, Schema } from "./document.ts";

/** The keywords of a schema that are compared and contain no further schemas. */
const COMPARED: readonly (keyof Schema)[] = [
  "$ref",
  "type",
  "format",
  "pattern",
  "enum",
  "const",
  "required",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
];

/** Longest line of the file, in characters. A longer line would make the file no shorter, and changes in it hard to see. */
const MAX_LINE = 200;

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function toSchema(schema: Schema): Schema {
  const { properties, items, additionalProperties: rest } = schema;
  const kept = COMPARED.flatMap((key) => (key in schema ? [[key, schema[key]]] : []));
  const choices = (["anyOf", "oneOf", "allOf"] as const).flatMap((key) =>
    schema[key] === undefined ? [] : [[key, schema[key].map(toSchema)]],
  );
  return {
    ...(Object.fromEntries([...kept, ...choices]) as Schema),
    ...(properties && { properties: mapValues(properties, toSchema) }),
    ...(items && { items: toSchema(items) }),
    ...(rest !== undefined && {
      additionalProperties: typeof rest === "object" ? toSchema(rest) : rest,
    }),
  };
}

function toContents({ content = {} }: Contents): Contents {
  return {
    content: mapValues(content, ({ schema }) => (schema ? { schema: toSchema(schema) } : {})),
  };
}

function toOperation(operation: Operation): Operation {
  const { description = "", parameters = [], requestBody, responses } = operation;
  return {
    description: /Requires the scope `[a-z:]+`/.exec(description)?.[0] ?? "",
    parameters: parameters.map(({ name, in: place, required = false, schema }) => ({
      name,
      in: place,
      required,
      schema: toSchema(schema),
    })),
    ...(requestBody && {
      requestBody: { required: requestBody.required === true, ...toContents(requestBody) },
    }),
    responses: mapValues(responses, (answer) => ({
      headers: mapValues(answer.headers ?? {}, () => ({})),
      ...toContents(answer),
    })),
  };
}

/** Writes JSON with a line for each value that fits in one. */
function format(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (indent.length + line.length <= MAX_LINE || typeof value !== "object" || value === null)
    return line;
  const inner = `${indent} `;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const members = Object.entries(value).map(([key, member]) => {
    const name = Array.isArray(value) ? "" : `${JSON.stringify(key)}: `;
    return `${inner}${name}${format(member, inner)}`;
  });
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
}

/** Returns the file that says what an API description promises to clients: only what `listBreakingChanges` compares. */
export function toReleased({ paths, webhooks = {}, components }: Description): string {
  const operations = (all: Description["paths"]) =>
    mapValues(all, (methods) => mapValues(methods, toOperation));
  const released: Description = {
    paths: operations(paths),
    webhooks: operations(webhooks),
    components: { schemas: mapValues(components.schemas, toSchema) },
  };
  return `${format(released)}\n`;
}
