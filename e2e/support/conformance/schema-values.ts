import { resolve, type ApiDocument, type Schema } from "./document.ts";
import { ODD_TEXTS } from "./hostile-texts.ts";
import { randomId, type Random } from "./random.ts";

/** Chooses values for fields whose meaning a schema does not express, such as the id of an account. */
export interface Chooser {
  /**
   * Returns a value for a field.
   *
   * @param field The name of the schema and of the field, such as `CreatePost.accountIds`.
   * @returns undefined where any value that fits the schema would do.
   */
  choose(field: string): unknown;
}

export interface ValueOptions extends Chooser {
  readonly document: ApiDocument;
  readonly random: Random;
  readonly nowMs: number;
}

const DAY_MS = 86_400_000;
/** Maximum number of items of a generated list, unless the schema asks for more. */
const MAX_ITEMS = 4;
/** Maximum length in characters of a generated text. */
const MAX_TEXT = 300;

/** Functions that make a text for each `pattern` of the API description. */
const PATTERNS: ReadonlyMap<string, (random: Random) => string> = new Map([
  ["^[!-~]*$", (random) => `key-${randomId(random)}!~`],
  ["^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", randomId],
  [
    "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$",
    (random) => random.pick(["en", "ko", "zh-Hant-TW", "fil", "pt-BR"]),
  ],
  ["\\S", (random) => `price${random.int(0, 999_999)}`],
  ["^[A-Za-z0-9_-]+$", (random) => `PL${random.int(0, 999_999)}_-`],
  [
    "^([01][0-9]|2[0-3]):[0-5][0-9]$",
    (random) =>
      `${String(random.int(0, 23)).padStart(2, "0")}:${String(random.int(0, 59)).padStart(2, "0")}`,
  ],
  [
    "^[Hh][Tt][Tt][Pp][Ss]?:",
    (random) => `https://files.example.invalid/${random.int(0, 999)}?a=%20b`,
  ],
  ["^[1-9][0-9]*$", (random) => String(random.int(1, 44))],
]);

function instant({ random, nowMs }: ValueOptions): string {
  const at = new Date(nowMs + random.int(1, 200) * DAY_MS + random.int(0, 86_399) * 1_000);
  const text = at.toISOString();
  return random.pick([text, text.replace(".000Z", "Z"), text.replace(".000Z", "+09:00")]);
}

const FORMATS: Readonly<Record<string, (options: ValueOptions) => string>> = {
  uuid: ({ random }) => randomId(random),
  uri: ({ random }) => `https://files.example.invalid/${random.int(0, 999)}?a=%20b`,
  "date-time": instant,
  date: ({ random, nowMs }) =>
    new Date(nowMs + random.int(-30, 300) * DAY_MS).toISOString().slice(0, 10),
};

/** Shortens a text to a number of code points, or repeats it until it has that many. */
function fitLength(text: string, min: number, max: number): string {
  const points = Array.from(text);
  while (points.length < min) points.push("x");
  return points.slice(0, max).join("");
}

function textFor(schema: Schema, options: ValueOptions): string {
  const { random } = options;
  const { format = "", pattern, minLength = 0, maxLength = MAX_TEXT } = schema;
  if (pattern !== undefined && pattern !== "\\S") {
    const write = PATTERNS.get(pattern);
    if (write === undefined) throw new Error(`no text is known that fits the pattern ${pattern}`);
    return write(random);
  }
  const write = FORMATS[format];
  if (format !== "" && write === undefined) throw new Error(`the format ${format} is not known`);
  if (write !== undefined) return write(options);
  const exact = random.chance(0.05) ? random.pick([minLength, maxLength]) : undefined;
  if (exact !== undefined && exact > 0) return fitLength("a", exact, exact);
  const text = random.chance(0.3)
    ? random.pick(ODD_TEXTS)
    : `Text ${random.int(0, 999_999)} with words.`;
  const filled = pattern === undefined || /\S/.test(text) ? text : `${text}x`;
  return fitLength(filled, minLength, maxLength);
}

function numberFor({ minimum, maximum, type }: Schema, random: Random): number {
  const lowest = minimum ?? -1_000;
  const highest = maximum ?? Math.max(lowest, 1_000_000);
  if (random.chance(0.3)) return random.pick([lowest, highest]);
  return type === "number"
    ? lowest + random.next() * (highest - lowest)
    : random.int(lowest, highest);
}

function listFor(schema: Schema, options: ValueOptions, field: string): unknown[] {
  const { minItems = 0, maxItems = MAX_ITEMS, items = {}, uniqueItems } = schema;
  const length = options.random.int(minItems, Math.max(minItems, Math.min(maxItems, MAX_ITEMS)));
  const values = Array.from({ length }, () => valueFor(items, options, `${field}[]`));
  if (uniqueItems !== true) return values;
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function objectFor(schema: Schema, options: ValueOptions, name: string): object {
  const { random } = options;
  const { properties = {}, required = [], minProperties = 0 } = schema;
  const optional = Object.keys(properties).filter((key) => !required.includes(key));
  const least = Math.max(0, minProperties - required.length);
  const chosen = random.sample(optional, random.int(least, Math.max(least, optional.length)));
  const keys = [
    ...required,
    ...(random.chance(0.5) ? chosen : chosen.slice(0, Math.max(least, 1))),
  ];
  const members = keys.map((key) => {
    const field = `${name}.${key}`;
    return [key, options.choose(field) ?? valueFor(properties[key] ?? {}, options, field)] as const;
  });
  return Object.fromEntries(members);
}

/** Returns a random value that fits the schema, except for conditions between its fields. */
export function valueFor(given: Schema, options: ValueOptions, field = ""): unknown {
  const { schema, name = field } = resolve(options.document, given);
  const { random } = options;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return valueFor(random.pick(schema.anyOf), options, name);
  const type = typeof schema.type === "string" ? schema.type : random.pick(schema.type ?? ["null"]);
  switch (type) {
    case "string":
      return textFor(schema, options);
    case "integer":
    case "number":
      return numberFor({ ...schema, type }, random);
    case "boolean":
      return random.chance(0.5);
    case "array":
      return listFor(schema, options, name);
    case "object":
      return objectFor(schema, options, name);
    default:
      return null;
  }
}
