import { findValueFault, type ValueFault } from "./check-value.ts";
import type { SettingFields } from "./field.ts";

/** The settings that a workspace has chosen for an account, or a JSON merge patch of them. */
export type SettingValues = Readonly<Record<string, unknown>>;

/** Returns every error in a JSON merge patch of an account's settings. Paths are JSON Pointers into the patch. */
export function checkPatch(fields: SettingFields, patch: SettingValues): readonly ValueFault[] {
  return Object.entries(patch).flatMap(([name, value]): ValueFault[] => {
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined)
      return [{ code: "additional_property", path, allowed: Object.keys(fields) }];
    // Null resets a setting to its default.
    const fault = value === null ? undefined : findValueFault(field, value);
    return fault === undefined ? [] : [{ ...fault, path: path + fault.path }];
  });
}

/**
 * Returns the stored settings after a checked JSON merge patch. A setting that is reset is not stored, so that it
 * follows the default; settings that a newer release stored are kept.
 */
export function applyPatch(stored: SettingValues, patch: SettingValues): SettingValues {
  const merged = Object.entries({ ...stored, ...patch });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}
