import type { TextUnit } from "#src/rules.ts";

export const UNIT_NAMES = {
  utf16: "utf16_units",
  weighted: "weighted_characters",
  utf8_bytes: "bytes",
  graphemes: "graphemes",
} as const satisfies Record<TextUnit, string>;

export type UnitName = (typeof UNIT_NAMES)[TextUnit];
