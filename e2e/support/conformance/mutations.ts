import { resolve, type ApiDocument, type Schema } from "./document.ts";
import { LONG_LENGTHS, ODD_IDS, ODD_TEXTS, REFUSED_TEXTS } from "./hostile-texts.ts";
import type { Random } from "./random.ts";

/** A value inside a JSON value, with its path and the schema that describes it. */
interface Place {
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
  readonly value: unknown;
}

export interface Mutant {
  readonly value: unknown;
  /** What was changed in the value, in words for the report of a conformance run. */
  readonly label: string;
  /** Whether the API refuses the value because of a rule for all texts that a JSON Schema cannot express. */
  readonly hasRefusedText?: boolean;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lists every value inside a JSON value, and the JSON value itself first. */
function listPlaces(
  document: ApiDocument,
  given: Schema,
  value: unknown,
  path: Place["path"] = [],
): Place[] {
  const { schema } = resolve(document, given);
  const here = { path, schema, value };
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    const inside = value.flatMap((item, index) =>
      listPlaces(document, items, item, [...path, index]),
    );
    return [here, ...inside];
  }
  if (!isObject(value)) return [here];
  const { properties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? additionalProperties : {};
  const inside = Object.entries(value).flatMap(([key, member]) =>
    listPlaces(document, properties[key] ?? others, member, [...path, key]),
  );
  return [here, ...inside];
}

/** Returns a copy of the JSON value with another value at one path; the value undefined removes what the path leads to. */
function replaceAt(value: unknown, path: Place["path"], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? replaceAt(item, rest, by) : item));
  const object = value as Readonly<Record<string, unknown>>;
  const replaced = replaceAt(object[step], rest, by);
  const others = Object.entries(object).filter(([key]) => key !== step);
  return Object.fromEntries(replaced === undefined ? others : [...others, [step, replaced]]);
}

const OTHER_TYPES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53,
  -0,
  "",
  "text",
  "1",
  [],
  [null],
  [[]],
  {},
  { a: 1 },
];

type Mutate = (place: Place, random: Random) => unknown;

/** The possible changes of a value inside a JSON value, by the name of the change. */
const MUTATIONS: Readonly<Record<string, Mutate>> = {
  "another type": (_, random) => random.pick(OTHER_TYPES),
  "an odd text": (_, random) => random.pick(ODD_TEXTS),
  "an odd id": (_, random) => random.pick(ODD_IDS.filter((id) => !id.includes("\0"))),
  "a long text": (_, random) => "é".repeat(random.pick(LONG_LENGTHS)),
  "a length below the minimum": ({ schema: { minLength = 1 } }) => "x".repeat(minLength - 1),
  "a length above the maximum": ({ schema: { maxLength = 10_000 } }) => "x".repeat(maxLength + 1),
  "a number below the minimum": ({ schema: { minimum = 0 } }) => minimum - 1,
  "a number above the maximum": ({ schema: { maximum = 2 ** 40 } }) => maximum + 1,
  "an empty list": () => [],
  "a list that is too long": ({ schema: { maxItems = 500 }, value }) => {
    const [item = 0] = Array.isArray(value) ? (value as unknown[]) : [];
    return Array.from({ length: maxItems + 1 }, () => item);
  },
  "a repeated item": ({ value }) =>
    Array.isArray(value) && value.length > 0 ? [...(value as unknown[]), value[0]] : [1, 1],
  "an unknown field": ({ value }, random) => ({
    ...(isObject(value) ? value : {}),
    [random.pick(["unknown", "", "__proto", "constructor", "Content", "é", "a/b~c"])]: 1,
  }),
  "a missing field": ({ value }, random) => {
    const keys = isObject(value) ? Object.keys(value) : [];
    if (!isObject(value) || keys.length === 0) return {};
    return replaceAt(value, [random.pick(keys)], undefined);
  },
  "an empty object": () => ({}),
  "deep nesting": (_, random) => {
    let nested: unknown = 1;
    for (let level = random.pick([10, 63, 64, 65, 300]); level > 0; level -= 1)
      nested = level % 2 === 0 ? [nested] : { a: nested };
    return nested;
  },
  "another time": (_, random) =>
    random.pick([
      "2026-02-30T00:00:00Z",
      "2026-11-24",
      "2026-11-24T18:00:00",
      "2026-11-24T24:00:00Z",
      "2026-11-24T18:00:60Z",
      "9999-12-31T23:59:59.999Z",
      "2026-11-24t18:00:00z",
      "+002026-11-24T18:00:00Z",
    ]),
  "another date": (_, random) =>
    random.pick(["2026-02-30", "2026-2-3", "0000-01-01", "9999-12-31", "2026-11-24T00:00:00Z"]),
};

/** Changes for values of one type, in addition to those for values of every type. */
function changesFor({ type, format }: Schema): readonly string[] {
  const types = typeof type === "string" ? [type] : (type ?? []);
  const has = (name: string) => types.includes(name);
  return [
    "another type",
    "deep nesting",
    ...(has("string") ? ["an odd text", "a long text", "a length below the minimum"] : []),
    ...(has("string") ? ["a length above the maximum"] : []),
    ...(format === "uuid" ? ["an odd id"] : []),
    ...(format === "date-time" ? ["another time"] : []),
    ...(format === "date" ? ["another date"] : []),
    ...(has("integer") || has("number")
      ? ["a number below the minimum", "a number above the maximum"]
      : []),
    ...(has("array") ? ["an empty list", "a list that is too long", "a repeated item"] : []),
    ...(has("object") ? ["an unknown field", "a missing field", "an empty object"] : []),
  ];
}

/** Returns a JSON value with one change in it. The changed value may still fit the schema. */
export function mutate(
  document: ApiDocument,
  schema: Schema,
  value: unknown,
  random: Random,
): Mutant {
  const place = random.pick(listPlaces(document, schema, value));
  const where = `/${place.path.join("/")}`;
  if (typeof place.value === "string" && random.chance(0.08)) {
    const text = random.pick(REFUSED_TEXTS);
    const changed = replaceAt(value, place.path, text);
    return { value: changed, label: `a refused text at ${where}`, hasRefusedText: true };
  }
  const name = random.pick(changesFor(place.schema));
  const changed = MUTATIONS[name]?.(place, random);
  return { value: replaceAt(value, place.path, changed), label: `${name} at ${where}` };
}
