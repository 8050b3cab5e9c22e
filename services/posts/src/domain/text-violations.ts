import {
  isFarAbove,
  isWithin,
  type TextCounter,
  type TextLimit,
  type TextMeasure,
} from "@postrider/platforms/text/text";
import { UNIT_NAMES } from "@postrider/platforms/text/unit-names";
import type { TargetField, TargetViolation, TargetViolationCode } from "./post.ts";

interface CountedText {
  readonly text: string;
  readonly field: TargetField;
  readonly code: TargetViolationCode;
}

/** For a text so far above a limit that counting, which takes long, is not needed. */
export function farAbove(
  counted: CountedText,
  limits: readonly TextLimit[],
  count: TextCounter,
): TargetViolation[] {
  return limits
    .filter((limit) => isFarAbove(counted.text, limit))
    .map(({ unit, max }) => ({
      ...toViolation(counted, unit, max),
      // Units and bytes are known at once; other lengths would take long to count.
      ...(unit === "utf16" || unit === "utf8_bytes" ? { actual: count(counted.text, unit) } : {}),
    }));
}

/**
 * Without `actual` if the exact length takes long to count. `measure` replaces the limit's unit.
 */
export function tooLong(
  counted: CountedText,
  { unit, max }: TextLimit,
  { count, measure = unit }: { readonly count: TextCounter; readonly measure?: TextMeasure },
): TargetViolation[] {
  if (measure === unit && isWithin(counted.text, { unit, max })) return [];
  const actual = count(counted.text, measure, max);
  if (actual <= max) return [];
  const violation = toViolation(counted, unit, max);
  return [Number.isFinite(actual) ? { ...violation, actual } : violation];
}

function toViolation(
  { code, field }: CountedText,
  unit: TextLimit["unit"],
  limit: number,
): TargetViolation {
  return { code, field, limit, unit: UNIT_NAMES[unit] };
}

/** Maximum number of positions that are listed for each refused character. */
const MAX_POSITIONS = 5;

/** Lists the refused characters with their positions, for example `< (3), > (7)`. */
export function forbiddenCharacters(
  field: TargetField,
  text: string,
  forbidden: readonly string[] = [],
): TargetViolation[] {
  const found = forbidden
    .filter((character) => text.includes(character))
    .map((character) => `${character} (${positionsOf(character, text).join(", ")})`);
  return found.length === 0
    ? []
    : [{ code: "forbidden_characters", field, found: found.join(", ") }];
}

function positionsOf(character: string, text: string): number[] {
  const positions: number[] = [];
  let at = text.indexOf(character);
  while (at !== -1 && positions.length < MAX_POSITIONS) {
    positions.push(Array.from(text.slice(0, at)).length + 1);
    at = text.indexOf(character, at + 1);
  }
  return positions;
}
