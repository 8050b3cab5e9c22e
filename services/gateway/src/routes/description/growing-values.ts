import type { JsonObject } from "./document.ts";

/** Names of the fields with fixed values that can never get further values. */
const CLOSED = new Set(["Weekday"]);

const REFERENCE = "#/components/schemas/";
const SENTENCE = "More values may be added.";

/** Adds the names of all schemas that a part of the API description refers to, directly or through other schemas. */
function collect(part: unknown, schemas: Record<string, object>, names: Set<string>): void {
  if (typeof part !== "object" || part === null) return;
  const reference = "$ref" in part ? part.$ref : undefined;
  if (typeof reference === "string" && reference.startsWith(REFERENCE)) {
    const name = reference.slice(REFERENCE.length);
    if (names.has(name)) return;
    names.add(name);
    collect(schemas[name], schemas, names);
    return;
  }
  for (const member of Object.values(part)) collect(member, schemas, names);
}

/**
 * Says of each named field with fixed values that answers or webhooks can contain that it may get further values: in its
 * description for people, and as `x-postrider-may-grow` for programs. Clients must not fail on a value that is new to them.
 *
 * @param answers The parts of the API description that Postrider sends.
 */
export function describeGrowingValues(answers: unknown, schemas: Record<string, object>): void {
  const names = new Set<string>();
  collect(answers, schemas, names);
  for (const name of names) {
    const schema = schemas[name] as JsonObject | undefined;
    if (schema?.["enum"] === undefined || CLOSED.has(name)) continue;
    const description = typeof schema["description"] === "string" ? schema["description"] : "";
    const isSaid = description.includes("may be added");
    schemas[name] = {
      ...schema,
      description: isSaid ? description : `${description} ${SENTENCE}`.trim(),
      "x-postrider-may-grow": true,
    };
  }
}
