import { findValueFault, type ValueFault } from "./check-value.ts";
import type { SettingFields } from "./field.ts";

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
