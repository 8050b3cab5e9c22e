import type { Violation } from "@postrider/shared/errors";
import type { StoredMedia } from "#src/domain/stored-media.ts";

export const MAX_ALT_TEXT_LENGTH = 1_500;

/** Counts code points, as the schema of the REST API does. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

export interface DescriptionChange {
  readonly altText: string | null | undefined;
  readonly coverMs: number | null | undefined;
}

/** Only a video has a cover, and only within its duration. */
export function checkCover(
  { kind, durationMs }: Pick<StoredMedia, "kind" | "durationMs">,
  coverMs: number | null | undefined,
): Violation[] {
  if (coverMs === undefined || coverMs === null) return [];
  const path = "/coverMs";
  if (kind !== "video") return [{ code: "cover_needs_video", path }];
  if (durationMs === null || coverMs < durationMs) return [];
  return [{ code: "cover_outside_video", path, limit: durationMs, actual: coverMs }];
}
