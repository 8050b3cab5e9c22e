import { ID_PATTERN } from "@postrider/rest/schemas";
import type { JsonObject } from "./document.ts";

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null;
}

/**
 * Adds the pattern of lower-case UUIDs to every schema of an id in a part of the API description. The schemas of paths
 * and headers do not have it at run time: there, a text that is not an id has an error of its own.
 */
export function describeIds(part: unknown): void {
  if (!isObject(part)) return;
  if (part["type"] !== undefined && part["format"] === "uuid") part["pattern"] = ID_PATTERN;
  for (const member of Object.values(part)) describeIds(member);
}
