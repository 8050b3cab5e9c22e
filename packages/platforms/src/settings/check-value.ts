import type { ListField, SettingField } from "./field.ts";

export interface ValueFault {
  readonly code:
    | "type"
    | "not_allowed"
    | "format"
    | "too_long"
    | "max_items"
    | "unique"
    | "additional_property";
  /** JSON Pointer from the setting's value to the invalid part of it. */
  readonly path: string;
  readonly limit?: number;
  readonly actual?: number;
  /**
   * What is allowed instead: the values that the setting can have, or the names of the platform's
   * settings.
   */
  readonly allowed?: readonly string[];
}

type TextForm = ListField["item"];

export function findValueFault(field: SettingField, value: unknown): ValueFault | undefined {
  switch (field.kind) {
    case "choice":
      if (typeof value !== "string") return { code: "type", path: "" };
      return field.values.includes(value)
        ? undefined
        : { code: "not_allowed", path: "", allowed: field.values };
    case "flag":
      return typeof value === "boolean" ? undefined : { code: "type", path: "" };
    case "text":
      return value === null && field.default === null ? undefined : findTextFault(field, value, "");
    case "list":
      return findListFault(field, value);
  }
}

function findTextFault(
  { pattern, maxLength }: TextForm,
  value: unknown,
  path: string,
): ValueFault | undefined {
  if (typeof value !== "string") return { code: "type", path };
  if (value.length > maxLength)
    return { code: "too_long", path, limit: maxLength, actual: value.length };
  return new RegExp(pattern).test(value) ? undefined : { code: "format", path };
}

function findListFault({ item, maxItems }: ListField, value: unknown): ValueFault | undefined {
  if (!Array.isArray(value)) return { code: "type", path: "" };
  if (value.length > maxItems)
    return { code: "max_items", path: "", limit: maxItems, actual: value.length };
  for (const [index, entry] of value.entries()) {
    const fault = findTextFault(item, entry, `/${index}`);
    if (fault !== undefined) return fault;
    if (value.indexOf(entry) < index) return { code: "unique", path: `/${index}` };
  }
  return undefined;
}
