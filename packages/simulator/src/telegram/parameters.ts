import { type Call, contentType, jsonObject } from "#src/http/call.ts";
import { formParts } from "#src/http/multipart.ts";
import { refuse } from "#src/telegram/errors.ts";

export type Parameters = ReadonlyMap<string, unknown>;

function bodyFields(call: Call): Iterable<readonly [string, unknown]> {
  switch (contentType(call)) {
    case "application/json":
      return call.body.length === 0
        ? []
        : Object.entries(jsonObject(call) ?? refuse("can't parse JSON object"));
    case "application/x-www-form-urlencoded":
      return new URLSearchParams(call.body.toString("utf8"));
    case "multipart/form-data":
      return (formParts(call) ?? refuse("can't parse the form")).map(
        ({ name, fileName, content }) =>
          [name, fileName === undefined ? content.toString("utf8") : content] as const,
      );
    default:
      return [];
  }
}

/** Unknown parameters are ignored, as in the real API. */
export function parametersOf(call: Call): Parameters {
  return new Map<string, unknown>([...call.query, ...bodyFields(call)]);
}

export function textOf(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Undefined unless the value is a positive integer, as a number or a string. */
export function idOf(value: unknown): number | undefined {
  const id = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** Sent as JSON or, in forms and queries, as a JSON string; empty for other values. */
export function listOf(parameters: Parameters, name: string): readonly unknown[] {
  let list = parameters.get(name);
  if (typeof list === "string")
    try {
      list = JSON.parse(list) as unknown;
    } catch {
      return refuse(`can't parse ${name}`);
    }

  return Array.isArray(list) ? (list as unknown[]) : [];
}

export function idsOf(parameters: Parameters, name: string): number[] {
  return listOf(parameters, name)
    .map(idOf)
    .filter((id) => id !== undefined);
}
