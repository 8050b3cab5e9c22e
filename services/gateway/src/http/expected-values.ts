export interface ExpectedSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly items?: ExpectedSchema;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ExpectedSchema>>;
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["date-time", "a time with an offset, such as 2026-12-24T18:00:00Z"],
  ["date", "a date, such as 2026-12-24"],
  ["uuid", "a UUID in lower case, such as 01936a5e-7d2b-7000-8000-000000000001"],
  ["uri", "a URL, such as https://example.com/picture.jpg"],
]);
const FORMAT_NAMES: ReadonlyMap<string, string> = new Map(
  [...FORMATS].map(([format, text]) => [format, text.replace(/, such as .*/, "")]),
);
const TYPES: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["integer", "an integer"],
  ["number", "a number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
  ["null", "null"],
]);
/**
 * Maximum length of a value of the client that an error detail repeats: less than that of an API
 * key, which some clients send in the wrong place. Error answers end up in logs of clients.
 */
const MAX_FOUND_LENGTH = 40;
/** Maximum number of allowed values that an error detail lists; it leaves out the rest. */
const MAX_ALLOWED = 60;

/** Says in English what a text of a format looks like; undefined for an unknown format. */
export function describeFormat(format: string | undefined): string | undefined {
  return format === undefined ? undefined : FORMATS.get(format);
}

/** Undefined if the schema names no type, format or value. */
export function describeExpected(schema: ExpectedSchema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const { format, items } = schema;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map(String).join(", ")}`;
  if (format !== undefined && FORMATS.has(format)) return describeText(format, schema);
  const types = [schema.type ?? []].flat().map((type) => describeType(type, schema));
  if (types.length === 0) return undefined;
  const item = types.includes("a list") ? describeField(items) : undefined;
  return types
    .map((type) => (type === "a list" && item ? `a list, each ${item}` : type))
    .join(" or ");
}

/** Says what a text of a format looks like, with the example of its schema if it has one. */
function describeText(format: string, { examples = [] }: ExpectedSchema): string | undefined {
  const [example] = examples;
  if (typeof example !== "string") return FORMATS.get(format);
  return `${FORMAT_NAMES.get(format)}, such as ${example}`;
}

/** Names a required field of an object and, if it is a number or a choice, what it accepts. */
function nameRequired(name: string, schema: ExpectedSchema | undefined): string {
  const isShort = schema?.type === "integer" || schema?.type === "number";
  return isShort ? `${name} (${describeExpected(schema)})` : name;
}

function describeType(type: string, schema: ExpectedSchema): string {
  const name = TYPES.get(type) ?? type;
  if (type === "integer" || type === "number") return `${name}${describeRange(schema)}`;
  if (type !== "object") return name;
  const { required = [], properties, description } = schema;
  if (required.length > 0)
    return `${name} with ${required.map((each) => nameRequired(each, properties?.[each])).join(" and ")}`;
  return properties === undefined && description !== undefined
    ? `${name}: ${toPhrase(description)}`
    : name;
}

function describeRange({ minimum, maximum }: ExpectedSchema): string {
  if (minimum === undefined) return "";
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return isBounded ? ` from ${minimum} to ${maximum}` : ` from ${minimum}`;
}

/**
 * Returns a description as a phrase: without the capital letter and the full stop of a sentence.
 */
export function toPhrase(description: string): string {
  const [first = "", second = ""] = description;
  const isWord = second === second.toLowerCase();
  return `${isWord ? first.toLowerCase() : first}${description.slice(1)}`.replace(/\.$/, "");
}

/**
 * Says in English what the value of a field is: what its schema accepts and, where that says
 * little, what the field is for.
 */
export function describeField(schema: ExpectedSchema | undefined): string | undefined {
  const expected = describeExpected(schema);
  if (schema?.description === undefined || expected === undefined) return expected;
  const { format = "" } = schema;
  const isTelling = format.startsWith("date") || schema.enum !== undefined || "const" in schema;
  return isTelling || expected.includes(": ")
    ? expected
    : `${expected}: ${toPhrase(schema.description)}`;
}

export function listAllowed(values: readonly unknown[] | undefined): string[] | undefined {
  return values?.slice(0, MAX_ALLOWED).map(String);
}

export function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/**
 * Returns a short value of the client as JSON; undefined for a long one, for lists and for objects.
 */
export function quoteFound(value: unknown): string | undefined {
  return typeof value === "object" || value === undefined ? undefined : quoteShort(value);
}

/** Returns a short value of the client as JSON; undefined for a long one. */
export function quoteShort(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  return text.length > MAX_FOUND_LENGTH ? undefined : text;
}
