import { type Comparison, compareSchemas } from "./compare-schemas.ts";
import type { Contents, Description, Operation } from "./document.ts";

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

/** Lists the differences between the JSON schemas of two bodies that break clients; none if one of the bodies is not JSON. */
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
 * Lists the changes of an API description that break a client which was written for the released one. New operations, new
 * optional fields of requests, and new fields, values and error codes of answers do not break clients.
 */
export function listBreakingChanges(
  released: Description,
  current: Description,
): readonly string[] {
  const both = { released, current };
  return [...comparePaths(both, "paths"), ...comparePaths(both, "webhooks")];
}
