import type { Description, Schema } from "./document.ts";
import { flatten } from "./flatten.ts";

/** Who sends a value: the client in requests, Postrider in answers and events. */
export type Writer = "client" | "server";

/** The two API descriptions that are compared, and who sends the compared values. */
export interface Comparison {
  readonly released: Description;
  readonly current: Description;
  readonly writer: Writer;
}

const LOWER = ["minLength", "minimum", "minItems", "minProperties"] as const;
const UPPER = ["maxLength", "maximum", "maxItems", "maxProperties"] as const;

/** Lists the limits of a value in requests that became narrower. */
function compareLimits(before: Schema, after: Schema): readonly string[] {
  const lower = LOWER.filter((key) => (after[key] ?? -Infinity) > (before[key] ?? -Infinity));
  const upper = UPPER.filter((key) => (after[key] ?? Infinity) < (before[key] ?? Infinity));
  const form = (["format", "pattern"] as const).filter(
    (key) => after[key] !== undefined && after[key] !== before[key],
  );
  return [...lower, ...upper, ...form].map((key) => `${key} is narrower`);
}

/** The values that a schema allows; undefined when it allows all values of its type. */
function valuesOf({ enum: values, const: value }: Schema): readonly unknown[] | undefined {
  return value === undefined ? values : [value];
}

/** Lists values that requests could contain before and cannot now. Answers may gain and lose values. */
function compareValues(before: Schema, after: Schema): readonly string[] {
  const allowed = valuesOf(after);
  if (allowed === undefined) return [];
  const known = valuesOf(before);
  if (known === undefined) return ["only some values are still accepted"];
  const gone = known.filter((value) => value !== null && !allowed.includes(value));
  return gone.map((value) => `the value ${JSON.stringify(value)} is no longer accepted`);
}

function compareRequired(before: Schema, after: Schema, writer: Writer): readonly string[] {
  const { required: was = [] } = before;
  const { required: is = [] } = after;
  return writer === "client"
    ? is.filter((name) => !was.includes(name)).map((name) => `${name} is required`)
    : was.filter((name) => !is.includes(name)).map((name) => `${name} may be absent`);
}

function compareMembers(before: Schema, after: Schema, comparison: Comparison): readonly string[] {
  const { properties: known = {} } = before;
  const { properties = {} } = after;
  const members = Object.entries(known).flatMap(([name, schema]) => {
    const member = properties[name];
    if (member === undefined) return [`${name} is gone`];
    return compareSchemas(schema, member, comparison).map((change) => `${name}: ${change}`);
  });
  const { additionalProperties: rest } = before;
  const { additionalProperties: restNow } = after;
  const both = typeof rest === "object" && typeof restNow === "object";
  const others = both ? compareSchemas(rest, restNow, comparison) : [];
  const items =
    before.items !== undefined && after.items !== undefined
      ? compareSchemas(before.items, after.items, comparison)
      : [];
  return [...members, ...[...others, ...items].map((change) => `each item: ${change}`)];
}

function compareVariant(before: Schema, after: Schema, comparison: Comparison): readonly string[] {
  const isRequest = comparison.writer === "client";
  return [
    ...(isRequest ? [...compareLimits(before, after), ...compareValues(before, after)] : []),
    ...compareRequired(before, after, comparison.writer),
    ...compareMembers(before, after, comparison),
  ];
}

/** Lists the differences between two schemas that break a client which was written for the first one. */
export function compareSchemas(
  before: Schema,
  after: Schema,
  comparison: Comparison,
): readonly string[] {
  const was = flatten(before, comparison.released);
  const is = flatten(after, comparison.current);
  const [wider, narrower] = comparison.writer === "client" ? [was, is] : [is, was];
  const covers = (type: string) =>
    narrower.types.has(type) || (type === "integer" && narrower.types.has("number"));
  const lost = [...wider.types].filter((type) => !covers(type));
  if (narrower.types.size > 0 && lost.length > 0) {
    const words = comparison.writer === "client" ? "is no longer accepted" : "is possible now";
    return lost.map((type) => `the type ${type} ${words}`);
  }
  return was.variants.flatMap((variant, index) => {
    const other = is.variants[index] ?? is.variants.at(-1);
    return other === undefined ? [] : compareVariant(variant, other, comparison);
  });
}
