const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}]+)/g;

/**
 * Returns the text form of a one-dimensional Postgres array. A string is returned unchanged, because it has that form
 * already.
 */
export function formatArray(values: readonly (string | number)[] | string): string {
  if (typeof values === "string") return values;
  const elements = values.map((value) => `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`);
  return `{${elements.join(",")}}`;
}

/** Returns the elements of a one-dimensional Postgres array without nulls, as texts. */
export function parseArray(text: string): string[] {
  return [...text.matchAll(ELEMENT)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll(/\\(.)/gs, "$1") ?? plain,
  );
}
