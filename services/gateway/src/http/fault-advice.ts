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
import { adviseOnName } from "#src/http/unknown-fields.ts";
import { describeMissingDay, writeTime } from "#src/http/write-time.ts";

/** One schema error that ajv found, as fastify lists it in `error.validation`. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly propertyName?: string;
  readonly parentSchema?: object;
  /** The value that does not fit the schema. */
  readonly data?: unknown;
}

/** What an error detail says about valid values, and about the faulty value that was sent. */
interface Advice {
  readonly expected?: string;
  readonly found?: string;
  readonly allowed?: string[];
  /**
   * Name of a special text of the error catalogue, if one explains the mistake more precisely than
   * the text of the mistake's code.
   */
  readonly variant?: string;
  /** For an unknown field: the known fields that the client probably means. */
  readonly instead?: readonly string[];
}

/** More allowed values are listed, and the detail does not say what the field is for. */
const MAX_EXPLAINED = 4;

type Advise = (
  error: Pick<SchemaError, "params" | "data" | "instancePath">,
  schema: ExpectedSchema,
) => { [Name in keyof Advice]: Advice[Name] | undefined };

const fieldsOf: Advise = (_, { properties }) => ({
  allowed: listAllowed(properties && Object.keys(properties)),
});

function describeDay(data: unknown, schema: ExpectedSchema): string | undefined {
  const isDate = schema.format === "date" || schema.format === "date-time";
  return isDate && typeof data === "string" ? describeMissingDay(data) : undefined;
}

/** Undefined if the field has many allowed values, which an error detail lists instead. */
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

const MAX_URL_ADVICE = 500;

/** What `URL` leaves behind the host although RFC 3986 does not allow it there. */
const UNENCODED = /[<>"{}|\\^`[\]]|%(?![\da-f]{2})|(?<=#.*)#/gi;

/**
 * Returns a URL with blanks, brackets or letters such as `ß` as it has to be sent; undefined for
 * other text.
 */
function encodedUrl(data: unknown, { format }: ExpectedSchema): string | undefined {
  if (format !== "uri" || typeof data !== "string" || data.length > MAX_URL_ADVICE)
    return undefined;
  const url = URL.parse(data.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const behindHost = `${url.pathname}${url.search}${url.hash}`;
  const encoded = `${url.href.slice(0, -behindHost.length)}${behindHost.replace(UNENCODED, encodeURIComponent)}`;
  return encoded === data || encoded.includes(" ") ? undefined : encoded;
}

/** Undefined for a value that names no certain moment. */
function writtenTime(data: unknown, { format }: ExpectedSchema): string | undefined {
  const time = format === "date-time" ? writeTime(data) : undefined;
  return time === undefined ? undefined : `this time as ${time}`;
}

/** The advice for a value that does not fit its schema, by the keyword of the schema. */
const ADVICE: Readonly<Partial<Record<string, Advise>>> = {
  type: ({ data, instancePath }, schema) => ({
    expected:
      writtenTime(data, schema) ??
      (schema.type === "array" ? describeField(schema) : describeExpected(schema)),
    found: quoteFound(data) ?? typeOf(data),
    variant: data === null && instancePath !== "" ? "null" : undefined,
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
    const encoded = encodedUrl(data, schema);
    if (encoded !== undefined)
      return { expected: `the URL percent-encoded: ${encoded}`, found: found ?? "string" };
    if (day === undefined)
      return { expected: writtenTime(data, schema) ?? describeField(schema), found };
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

/** As far as the schema describes valid values. */
export function adviseOn(error: SchemaError): Advice {
  return defined(ADVICE[error.keyword]?.(error, error.parentSchema ?? {}) ?? {});
}
