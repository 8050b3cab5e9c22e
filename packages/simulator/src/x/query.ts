import { refuseParameter } from "#src/x/errors.ts";

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Refuses parameters that the endpoint does not have. */
export function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const [name, value] of query) {
    if (!known.includes(name)) {
      refuseParameter(
        name,
        value,
        `The query parameter [${name}] is not one of [${known.join(",")}]`,
      );
    }
  }
}

/** A comma-separated parameter whose values are all of the known ones. */
export function fieldSet(
  query: URLSearchParams,
  name: string,
  known: readonly string[],
): ReadonlySet<string> {
  const values = (query.get(name) ?? "").split(",").filter((value) => value !== "");
  for (const value of values) {
    if (!known.includes(value)) {
      refuseParameter(
        name,
        value,
        `The \`${name}\` query parameter value [${value}] is not one of [${known.join(",")}]`,
      );
    }
  }
  return new Set(values);
}

/** Unix milliseconds of an RFC 3339 time, or undefined if the parameter is missing. */
export function instantParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) {
    return undefined;
  }
  return INSTANT.test(text)
    ? Date.parse(text)
    : refuseParameter(
        name,
        text,
        `The \`${name}\` query parameter value [${text}] is not a valid RFC 3339 time`,
      );
}

export function integerParameter(
  query: URLSearchParams,
  name: string,
  rule: { readonly min: number; readonly max: number; readonly default: number },
): number {
  const text = query.get(name);
  const value = text === null ? rule.default : Number(text);
  if (!Number.isInteger(value) || value < rule.min || value > rule.max) {
    refuseParameter(
      name,
      text,
      `The \`${name}\` query parameter value [${text}] is not between ${rule.min} and ${rule.max}`,
    );
  }
  return value;
}
