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
}

type Advise = (
  error: Pick<SchemaError, "params" | "data">,
  schema: ExpectedSchema,
) => { [Name in keyof Advice]: Advice[Name] | undefined };

const fieldsOf: Advise = (_, { properties }) => ({
  allowed: listAllowed(properties && Object.keys(properties)),
});

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
  enum: ({ params, data }) => ({
    allowed: listAllowed(params["allowedValues"] as unknown[]),
    found: quoteFound(data),
  }),
  const: ({ params, data }) => ({
    allowed: listAllowed([params["allowedValue"]]),
    found: quoteFound(data),
  }),
  format: ({ data }, schema) => ({ expected: describeField(schema), found: quoteFound(data) }),
  pattern: ({ data }, schema) => ({ expected: describePattern(schema), found: quoteFound(data) }),
  additionalProperties: fieldsOf,
  minProperties: fieldsOf,
};

/** Says what would do instead of a value that does not fit its schema, as far as the schema tells. */
export function adviseOn(error: SchemaError): Advice {
  return defined(ADVICE[error.keyword]?.(error, error.parentSchema ?? {}) ?? {});
}
