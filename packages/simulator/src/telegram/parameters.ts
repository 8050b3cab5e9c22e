import { contentType, jsonObject } from "#src/http/call.ts";
import type { Call } from "#src/http/call.ts";
import { refuse } from "#src/telegram/errors.ts";

export type Parameters = ReadonlyMap<string, unknown>;

/** Parameters from the query, a form or a JSON body, as the Bot API takes them. Unknown ones are ignored there too. */
export function parametersOf(call: Call): Parameters {
  const parameters = new Map<string, unknown>(call.query);
  const type = contentType(call);
  if (type === "application/json" && call.body.length > 0) {
    for (const [name, value] of Object.entries(
      jsonObject(call) ?? refuse("can't parse JSON object"),
    )) {
      parameters.set(name, value);
    }
  }
  if (type === "application/x-www-form-urlencoded") {
    for (const [name, value] of new URLSearchParams(call.body.toString("utf8"))) {
      parameters.set(name, value);
    }
  }
  return parameters;
}

/** Texts and numbers as text; empty if missing. */
export function textOf(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** A whole number above 0, sent as a number or as text. */
export function idOf(value: unknown): number | undefined {
  const id = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** A list of ids, sent as JSON or, in forms and queries, as JSON text. */
export function idsOf(parameters: Parameters, name: string): number[] {
  let list = parameters.get(name);
  if (typeof list === "string") {
    try {
      list = JSON.parse(list) as unknown;
    } catch {
      return refuse(`can't parse ${name}`);
    }
  }
  const ids = Array.isArray(list) ? list.map(idOf) : [];
  return ids.filter((id) => id !== undefined);
}
