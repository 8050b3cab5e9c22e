import {
  describeField,
  type ExpectedSchema,
  quoteShort,
  toPhrase,
} from "#src/http/expected-values.ts";
import { findIntendedField, toStatus } from "#src/http/field-aliases.ts";

type Fields = Readonly<Record<string, ExpectedSchema>>;

/**
 * For a field that does not exist: what to send instead, and which text of the error catalogue says
 * so.
 */
interface NameAdvice {
  readonly expected: string;
  readonly variant: "wrapper" | "each" | "renamed";
  /** The known fields that the client probably means by the unknown one. */
  readonly instead: readonly string[];
}

/** Undefined for a value that is not an object with only known fields. */
function unwrap(value: unknown, fields: Fields): readonly string[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const names = Object.keys(value);
  const areKnown = names.length > 0 && names.every((name) => Object.hasOwn(fields, name));
  return areKnown ? names : undefined;
}

/**
 * Converts the value of an unknown field to the type of the known field that is probably meant.
 * Returns undefined if the value fits as it is, and "unclear" if no value of the known field means
 * the same.
 */
function translate(
  name: string,
  value: unknown,
  field: string,
  schema: ExpectedSchema | undefined,
): string | undefined {
  const status = toStatus(name, value, schema?.enum);
  if (status !== undefined) return JSON.stringify(status);
  if (schema?.type !== "boolean" || typeof value !== "string") return undefined;
  // `status: "draft"` means `isDraft: true`. Another status does not mean `isDraft: false`.
  return findIntendedField(value, [field]) === field ? "true" : "unclear";
}

/** Says what a field is for or, without a description, which values it accepts. */
function describeUse(schema: ExpectedSchema | undefined): string | undefined {
  const { description } = schema ?? {};
  return description === undefined ? describeField(schema) : toPhrase(description);
}

function adviseOnField(
  name: string,
  value: unknown,
  field: string,
  schema: ExpectedSchema | undefined,
): NameAdvice | undefined {
  const meant = translate(name, value, field, schema);
  if (meant === "unclear") return undefined;
  const about = meant === undefined ? describeField(schema) : describeUse(schema);
  const shown = meant === undefined ? field : `${field}: ${meant}`;
  const expected = about === undefined ? shown : `${shown} (${about})`;
  const variant = Array.isArray(value) && schema?.type !== "array" ? "each" : "renamed";
  return { expected, variant, instead: [field] };
}

/**
 * For a field that does not exist: says which known field is meant, or that the fields inside of it
 * belong one level higher; undefined if that is not clear.
 *
 * @param sent The object with the field.
 * @param fields The fields that exist.
 */
export function adviseOnName(name: string, sent: unknown, fields: Fields): NameAdvice | undefined {
  const members = (sent ?? {}) as Readonly<Record<string, unknown>>;
  const value = Object.hasOwn(members, name) ? members[name] : undefined;
  const inner = unwrap(value, fields);
  if (inner !== undefined)
    return { expected: quoteShort(value) ?? inner.join(", "), variant: "wrapper", instead: inner };
  const free = Object.keys(fields).filter((field) => !Object.hasOwn(members, field));
  const field = findIntendedField(name, free);
  return field === undefined ? undefined : adviseOnField(name, value, field, fields[field]);
}
