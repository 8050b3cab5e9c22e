const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}]+)/g;

/** A string has the text form already. */
export function formatArray(values: readonly (string | number)[] | string): string {
  if (typeof values === "string") return values;
  const elements = values.map((value) => `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`);
  return `{${elements.join(",")}}`;
}

/** One dimension, without nulls. */
export function parseArray(text: string): string[] {
  return [...text.matchAll(ELEMENT)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll(/\\(.)/gs, "$1") ?? plain,
  );
}
