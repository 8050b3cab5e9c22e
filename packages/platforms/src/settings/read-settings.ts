import type { ListField, SettingField, SettingFields, SettingsOf } from "#src/settings/field.ts";

export function parseSettings(text: string): Readonly<Record<string, unknown>> {
  return text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
}

/**
 * A setting that is not stored, or whose stored value this release does not know, has its default.
 */
export function readSettings<F extends SettingFields>(fields: F, stored: unknown): SettingsOf<F> {
  const values = Object.entries(fields).map(([name, field]) => {
    const value = valueOf(stored, name);
    const isValid = value !== undefined && findValueFault(field, value) === undefined;
    return [name, isValid ? value : field.default];
  });
  return Object.fromEntries(values) as SettingsOf<F>;
}

function valueOf(stored: unknown, name: string): unknown {
  if (typeof stored !== "object" || stored === null || !Object.hasOwn(stored, name))
    return undefined;
  return (stored as Record<string, unknown>)[name];
}

export type SettingValues = Readonly<Record<string, unknown>>;

/** Paths are JSON Pointers into the patch. */
export function checkPatch(fields: SettingFields, patch: SettingValues): readonly ValueFault[] {
  return Object.entries(patch).flatMap(([name, value]): ValueFault[] => {
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined)
      return [{ code: "additional_property", path, allowed: Object.keys(fields) }];
    const fault = value === null ? undefined : findValueFault(field, value);
    return fault === undefined ? [] : [{ ...fault, path: path + fault.path }];
  });
}

/**
 * Returns the stored settings after a checked JSON merge patch. A setting that is reset is not
 * stored, so that it follows the default; settings that a newer release stored are kept.
 */
export function applyPatch(stored: SettingValues, patch: SettingValues): SettingValues {
  const merged = Object.entries({ ...stored, ...patch });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

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
