import { defined } from "#src/http/defined.ts";
import {
  describeExpected,
  describeField,
  describeFormat,
  listAllowed,
  quoteFound,
  toPhrase,
  typeOf,
  type ExpectedSchema,
} from "#src/http/expected-values.ts";
import { describeMissingDay } from "#src/http/missing-days.ts";
import { adviseOnName } from "#src/http/unknown-fields.ts";

/** One schema fault that ajv found, as fastify lists it in `error.validation`. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly propertyName?: string;
  /** The schema whose keyword failed. */
  readonly parentSchema?: object;
  /** The value that does not fit the schema. */
  readonly data?: unknown;
}

/** What a detail says about values that would do, and about the value that was sent. */
interface Advice {
  readonly expected?: string;
  readonly found?: string;
  readonly allowed?: string[];
  /** Which text of the catalogue explains the fault, if there is a more precise one than that of the code. */
  readonly variant?: string;
  /** The fields that are meant by an unknown one. */
  readonly instead?: readonly string[];
}

/** Maximum number of allowed values beside which an error detail says what the choice is for. */
const MAX_EXPLAINED = 4;

type Advise = (
  error: Pick<SchemaError, "params" | "data">,
  schema: ExpectedSchema,
) => { [Name in keyof Advice]: Advice[Name] | undefined };

const fieldsOf: Advise = (_, { properties }) => ({
  allowed: listAllowed(properties && Object.keys(properties)),
});

function describeDay(data: unknown, schema: ExpectedSchema): string | undefined {
  const isDate = schema.format === "date" || schema.format === "date-time";
  return isDate && typeof data === "string" ? describeMissingDay(data) : undefined;
}

/** Says what a choice is for, if it is small enough for one sentence. */
function describeChoice({ description, enum: values = [] }: ExpectedSchema): string | undefined {
  return description === undefined || values.length > MAX_EXPLAINED
    ? undefined
    : toPhrase(description);
}

function describePattern(schema: ExpectedSchema): string | undefined {
  const { format, description, pattern } = schema;
  if (describeFormat(format) !== undefined) return describeField(schema);
  return description === undefined ? `text that matches ${pattern}` : toPhrase(description);
}

/** What would do instead of a value that does not fit its schema, by keyword. */
const ADVICE: Readonly<Partial<Record<string, Advise>>> = {
  type: ({ data }, schema) => ({
    expected: schema.type === "array" ? describeField(schema) : describeExpected(schema),
    found: quoteFound(data) ?? typeOf(data),
  }),
  required: ({ params }, { properties }) => ({
    expected: describeField(properties?.[String(params["missingProperty"])]),
  }),
  enum: ({ params, data }, schema) => ({
    allowed: listAllowed(params["allowedValues"] as unknown[]),
    found: quoteFound(data),
    expected: describeChoice(schema),
  }),
  const: ({ params, data }, schema) => ({
    allowed: listAllowed([params["allowedValue"]]),
    found: quoteFound(data),
    expected: describeChoice(schema),
  }),
  format: ({ data }, schema) => {
    const day = describeDay(data, schema);
    const found = quoteFound(data);
    if (day === undefined) return { expected: describeField(schema), found };
    return { expected: `a date that exists; ${day}`, found, variant: "no_such_day" };
  },
  pattern: ({ data }, schema) => ({ expected: describePattern(schema), found: quoteFound(data) }),
  additionalProperties: ({ params, data }, { properties = {} }) => {
    const allowed = listAllowed(Object.keys(properties));
    return { allowed, ...adviseOnName(String(params["additionalProperty"]), data, properties) };
  },
  minItems: (_, { items }) => ({ expected: describeField(items) }),
  minProperties: fieldsOf,
};

/** Says what would do instead of a value that does not fit its schema, as far as the schema tells. */
export function adviseOn(error: SchemaError): Advice {
  return defined(ADVICE[error.keyword]?.(error, error.parentSchema ?? {}) ?? {});
}
