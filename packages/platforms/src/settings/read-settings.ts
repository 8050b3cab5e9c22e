import { findValueFault } from "./check-value.ts";
import type { SettingFields, SettingsOf } from "./field.ts";

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
