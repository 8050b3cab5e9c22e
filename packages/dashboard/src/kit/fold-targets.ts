import type { TargetStatus } from "@postrider/client";

/** `unknown` is a failed target whose outcome is not known; the other two follow from the post. */
export type TileStatus = TargetStatus | "unknown" | "draft" | "scheduled";

const MAX_TILES = 8;

/** What must not be folded, in the order in which it stands at the end. */
const LOUD: readonly TileStatus[] = [
  "publishing",
  "deleting",
  "delete_failed",
  "unknown",
  "failed",
];

function rankOf(status: TileStatus): number {
  return LOUD.indexOf(status) + 1;
}

/** Sorts the tiles of a post and folds what is over eight, but never one that needs attention. */
export function foldTargets<T extends { readonly status: TileStatus }>(
  targets: readonly T[],
): { readonly shown: readonly T[]; readonly hidden: number } {
  const sorted = [...targets].sort((one, other) => rankOf(one.status) - rankOf(other.status));
  if (sorted.length <= MAX_TILES) return { shown: sorted, hidden: 0 };
  const quiet = sorted.filter(({ status }) => rankOf(status) === 0);
  const loud = sorted.slice(quiet.length);
  const kept = quiet.slice(0, Math.max(0, MAX_TILES - 1 - loud.length));
  return { shown: [...kept, ...loud], hidden: quiet.length - kept.length };
}
