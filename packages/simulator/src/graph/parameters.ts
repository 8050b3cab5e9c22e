import { refuseParameter } from "#src/graph/errors.ts";
import type { Call } from "#src/http/call.ts";
import { bodyFields } from "#src/http/multipart.ts";

/** One field in the parameter `fields` of a Graph API call, such as `replies.limit(5){id,text}`. */
export interface Field {
  readonly name: string;
  readonly modifiers: ReadonlyMap<string, string>;
  readonly fields: readonly Field[];
}

/** A value that depends on how the caller requests it, for example a list with a limit. */
export type Expansion = (field: Field) => unknown;

function split(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    depth += "{(".includes(letter) ? 1 : 0;
    depth -= "})".includes(letter) ? 1 : 0;
    if (letter === "," && depth === 0) parts.push("");
    else parts.push(`${parts.pop() ?? ""}${letter}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const FIELD = /^(?<name>\w+)(?<modifiers>(?:\.\w+\([^()]*\))*)(?:\{(?<fields>.*)\})?$/s;
const MODIFIER = /\.(\w+)\(([^()]*)\)/g;

function toField(text: string): Field {
  const { name, modifiers = "", fields = "" } = FIELD.exec(text)?.groups ?? {};
  if (name === undefined)
    return refuseParameter(`Syntax error "Expected end of string" at ${text}`);
  const found = [...modifiers.matchAll(MODIFIER)];
  return {
    name,
    modifiers: new Map(found.map(([, key = "", value = ""]) => [key, value])),
    fields: parseFields(fields),
  };
}

export function parseFields(text: string): readonly Field[] {
  return split(text).map(toField);
}

function valueOf(value: unknown, field: Field): unknown {
  return typeof value === "function" ? (value as Expansion)(field) : value;
}

/** Always with `id`. Refuses a requested field that the result does not have. */
export function pick(
  fields: readonly Field[],
  object: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const picked: Record<string, unknown> = { id: object["id"] };
  for (const field of fields) {
    if (!(field.name in object))
      refuseParameter(`Tried accessing nonexisting field (${field.name})`);
    const value = valueOf(object[field.name], field);
    if (value !== undefined) picked[field.name] = value;
  }
  return picked;
}

/**
 * Parameters that every Graph API endpoint accepts, in the query or in the body. `id` repeats the
 * id with which the path begins: Meta's own SDK sends it with each such call.
 */
const COMMON = new Set(["access_token", "appsecret_proof", "locale", "fields", "format", "id"]);

type Value = string | Buffer;

export class GraphParameters {
  readonly #values: ReadonlyMap<string, Value>;

  constructor(values: ReadonlyMap<string, Value>) {
    this.#values = values;
  }

  /**
   * Refuses unknown parameters of a Graph API call, so that a test finds a misspelt parameter. The
   * real API ignores most unknown parameters.
   */
  checkNames(known: readonly string[]): void {
    for (const name of this.#values.keys())
      if (!known.includes(name) && !COMMON.has(name))
        refuseParameter(`The parameter ${name} is not supported by this endpoint`);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string {
    const value = this.#values.get(name) ?? "";
    return typeof value === "string" ? value : refuseParameter(`Param ${name} must be a string.`);
  }

  required(name: string): string {
    const value = this.text(name);
    return value === "" ? refuseParameter(`The parameter ${name} is required`) : value;
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const text = this.required(name);
    const found = values.find((value) => value === text);
    return found ?? refuseParameter(`Param ${name} must be one of {${values.join(", ")}}.`);
  }

  flag(name: string, otherwise: boolean): boolean {
    const text = this.text(name);
    if (text === "") return otherwise;
    const isTrue = text === "true" || text === "1";
    return isTrue || text === "false" || text === "0"
      ? isTrue
      : refuseParameter(`Param ${name} must be a boolean.`);
  }

  number(name: string): number {
    const text = this.required(name);
    return /^\d{1,15}$/.test(text)
      ? Number(text)
      : refuseParameter(`Param ${name} must be an integer.`);
  }

  json(name: string): unknown {
    const text = this.text(name);
    if (text === "") return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return refuseParameter(`Param ${name} must be valid JSON.`);
    }
  }

  file(name: string): Buffer | undefined {
    const value = this.#values.get(name);
    return value === undefined || Buffer.isBuffer(value)
      ? value
      : refuseParameter(`Param ${name} must be a file.`);
  }
}

function* bodyValues(call: Call): Generator<[string, Value]> {
  for (const [name, value] of bodyFields(call) ?? []) {
    const isPlain = typeof value === "string" || Buffer.isBuffer(value);
    yield [name, isPlain ? value : JSON.stringify(value)];
  }
}

export function parametersOf(call: Call): GraphParameters {
  return new GraphParameters(new Map<string, Value>([...call.query, ...bodyValues(call)]));
}

export function pickFields(
  parameters: GraphParameters,
  object: Readonly<Record<string, unknown>>,
  defaults: readonly string[] = [],
): Record<string, unknown> {
  const asked = parseFields(parameters.text("fields"));
  return pick(asked.length === 0 ? parseFields(defaults.join(",")) : asked, object);
}
