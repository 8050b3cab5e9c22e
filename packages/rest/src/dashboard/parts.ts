import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { Type, type Static } from "typebox";
import { nullable } from "#src/schemas.ts";

/** The platform of an account or target. These schemas have no `$id`: no description lists them. */
export const Platform = Type.Unsafe<string>({ type: "string", enum: [...PLATFORM_IDS] });

/** A text in both languages of the dashboard, so that switching needs no further request. */
export const Words = Type.Object({ en: Type.String(), ko: Type.String() });

/** The highest number to which rows are counted; more are shown as "1,000+". */
export const MAX_COUNT = 1_000;

/**
 * A number that is exact up to 1,000. Beyond that, `isMore` is true and the real number is higher:
 * counting on would read every row of the workspace.
 */
export const BoundedCount = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  isMore: Type.Boolean(),
});

/** The cursor of the next page; null on the last page. */
export const NextCursor = nullable(Type.String());

/** @param count Exact up to `MAX_COUNT`; anything higher stands for more. */
export function toBoundedCount(count: number): BoundedCountJson {
  return { count: Math.min(count, MAX_COUNT), isMore: count > MAX_COUNT };
}

export type WordsJson = Static<typeof Words>;
export type BoundedCountJson = Static<typeof BoundedCount>;
