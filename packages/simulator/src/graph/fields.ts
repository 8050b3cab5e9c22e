import { refuseParameter } from "#src/graph/errors.ts";

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
