import type { TextUnit } from "#src/rules.ts";

/** The names that errors use for the units in which platforms count the length of a text. */
export const UNIT_NAMES = {
  utf16: "utf16_units",
  weighted: "weighted_characters",
  utf8_bytes: "bytes",
  graphemes: "graphemes",
} as const satisfies Record<TextUnit, string>;

/** Name of the unit of a text's length in errors. */
export type UnitName = (typeof UNIT_NAMES)[TextUnit];
