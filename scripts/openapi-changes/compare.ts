import type { Contents, Description, Operation, Schema } from "./document.ts";

interface FlatSchema {
  readonly types: ReadonlySet<string>;
  /** Without `anyOf` or `oneOf`, only the schema itself. */
  readonly variants: readonly Schema[];
}

function merge(schemas: readonly Schema[]): Schema {
  return {
    ...Object.assign({}, ...schemas),
    properties: Object.assign(
      {},
      ...schemas.map(({ properties = {} }) => properties),
    ) as NonNullable<Schema["properties"]>,
    required: [...new Set(schemas.flatMap(({ required = [] }) => required))],
  };
}

/** Replaces references by the schemas that they name, and merges the parts of `allOf`. */
function resolve(schema: Schema, description: Description): Schema {
  const { $ref, allOf, ...own } = schema;
  if ($ref !== undefined) {
    const found = description.components.schemas[$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`${$ref} does not exist`);
    return { ...resolve(found, description), ...own };
  }
  if (allOf === undefined) return schema;
  return merge([...allOf.map((part) => resolve(part, description)), own]);
}

function typesOf({ type, const: value, enum: values = [] }: Schema): readonly string[] {
  if (type !== undefined) return typeof type === "string" ? [type] : type;
  return [...new Set((value === undefined ? values : [value]).map((each) => typeof each))];
}

/** `anyOf` with null counts as a type that can be null. */
function flatten(schema: Schema, description: Description): FlatSchema {
  const resolved = resolve(schema, description);
  const choices = resolved.anyOf ?? resolved.oneOf;
  if (choices === undefined || resolved.type !== undefined)
    return { types: new Set(typesOf(resolved)), variants: [resolved] };
  const flat = choices.map((choice) => flatten(choice, description));
  return {
    types: new Set(flat.flatMap(({ types }) => [...types])),
    variants: flat.flatMap(({ variants }) => variants).filter(({ type }) => type !== "null"),
  };
}

/** Who sends a value: the client in requests, Postrider in answers and events. */
type Writer = "client" | "server";

interface Comparison {
  readonly released: Description;
  readonly current: Description;
  readonly writer: Writer;
}

const LOWER = ["minLength", "minimum", "minItems", "minProperties"] as const;
const UPPER = ["maxLength", "maximum", "maxItems", "maxProperties"] as const;

function compareLimits(before: Schema, after: Schema): readonly string[] {
  const lower = LOWER.filter((key) => (after[key] ?? -Infinity) > (before[key] ?? -Infinity));
  const upper = UPPER.filter((key) => (after[key] ?? Infinity) < (before[key] ?? Infinity));
  const form = (["format", "pattern"] as const).filter(
    (key) => after[key] !== undefined && after[key] !== before[key],
  );
  return [...lower, ...upper, ...form].map((key) => `${key} is narrower`);
}

/** Undefined when it allows all values of its type. */
function valuesOf({ enum: values, const: value }: Schema): readonly unknown[] | undefined {
  return value === undefined ? values : [value];
}

/**
 * Lists values that requests could contain before and cannot now. Answers may gain and lose values.
 */
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

/**
 * Lists the differences between two schemas that break a client which was written for the first
 * one.
 */
function compareSchemas(before: Schema, after: Schema, comparison: Comparison): readonly string[] {
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

type Both = Omit<Comparison, "writer">;

const JSON_TYPE = "application/json";

function compareParameters(before: Operation, after: Operation, both: Both): readonly string[] {
  const { parameters: was = [] } = before;
  const { parameters: is = [] } = after;
  const find = (list: typeof was, { name, in: place }: (typeof was)[number]) =>
    list.find((each) => each.name === name && each.in === place);
  const known = was.flatMap((parameter) => {
    const now = find(is, parameter);
    if (now === undefined) return [`${parameter.name} is gone`];
    const isNewlyRequired = now.required === true && parameter.required !== true;
    const changes = compareSchemas(parameter.schema, now.schema, { ...both, writer: "client" });
    return [
      ...(isNewlyRequired ? [`${now.name} is required`] : []),
      ...changes.map((change) => `${now.name}: ${change}`),
    ];
  });
  const added = is.filter((each) => each.required === true && find(was, each) === undefined);
  return [...known, ...added.map(({ name }) => `${name} is required`)];
}

/** None if one of the bodies is not JSON. */
function compareContents(was: Contents, is: Contents, comparison: Comparison): readonly string[] {
  const before = was.content?.[JSON_TYPE]?.schema;
  const after = is.content?.[JSON_TYPE]?.schema;
  if (before === undefined || after === undefined) return [];
  return compareSchemas(before, after, comparison);
}

function compareBodies(before: Operation, after: Operation, comparison: Comparison) {
  const { requestBody: was = {} } = before;
  const { requestBody: is = {} } = after;
  if (is.required === true && was.required !== true) return ["a body is required"];
  if (before.requestBody !== undefined && after.requestBody === undefined)
    return ["a body is no longer accepted"];
  return compareContents(was, is, comparison);
}

function compareAnswers(before: Operation, after: Operation, both: Both): readonly string[] {
  return Object.entries(before.responses).flatMap(([status, was]) => {
    const is = after.responses[status];
    if (is === undefined) return status.startsWith("2") ? [`${status} is gone`] : [];
    const headers = Object.keys(was.headers ?? {}).filter((name) => !(name in (is.headers ?? {})));
    const changes = compareContents(was, is, { ...both, writer: "server" });
    return [...headers.map((name) => `the header ${name} is gone`), ...changes].map(
      (change) => `${status}: ${change}`,
    );
  });
}

function scopeOf({ description = "" }: Operation): string {
  return /Requires the scope `([a-z:]+)`/.exec(description)?.[1] ?? "";
}

function compareOperation(before: Operation, after: Operation, both: Both): readonly string[] {
  const scope = scopeOf(after);
  return [
    ...(scope === scopeOf(before) ? [] : [`the scope is ${scope}`]),
    ...compareParameters(before, after, both),
    ...compareBodies(before, after, { ...both, writer: "client" }).map((each) => `body: ${each}`),
    ...compareAnswers(before, after, both),
  ];
}

function comparePaths(both: Both, part: "paths" | "webhooks"): readonly string[] {
  return Object.entries(both.released[part] ?? {}).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, before]) => {
      const after = both.current[part]?.[path]?.[method];
      const name = part === "paths" ? `${method.toUpperCase()} ${path}` : `event ${path}`;
      if (after === undefined) return [`${name} is gone`];
      const changes =
        part === "paths"
          ? compareOperation(before, after, both)
          : compareBodies(before, after, { ...both, writer: "server" });
      return changes.map((change) => `${name}: ${change}`);
    }),
  );
}

/**
 * Not breaking: new operations, optional fields of requests, and fields, values and error codes of
 * answers.
 */
export function listBreakingChanges(
  released: Description,
  current: Description,
): readonly string[] {
  const both = { released, current };
  return [...comparePaths(both, "paths"), ...comparePaths(both, "webhooks")];
}
