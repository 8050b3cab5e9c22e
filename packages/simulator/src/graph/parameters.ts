import { refuseParameter } from "#src/graph/errors.ts";
import { parseFields, pick } from "#src/graph/fields.ts";
import { type Call, contentType, jsonObject } from "#src/http/call.ts";
import { formParts } from "#src/http/multipart.ts";

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
  switch (contentType(call)) {
    case "application/json":
      for (const [name, value] of Object.entries(jsonObject(call) ?? {}))
        yield [name, typeof value === "string" ? value : JSON.stringify(value)];

      return;
    case "application/x-www-form-urlencoded":
      yield* new URLSearchParams(call.body.toString("utf8"));
      return;
    case "multipart/form-data":
      for (const { name, fileName, content } of formParts(call) ?? [])
        yield [name, fileName === undefined ? content.toString("utf8") : content];

      return;
    default:
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
