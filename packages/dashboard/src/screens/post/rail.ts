import type { Attempt } from "@postrider/client";

/** One line of the rail of attempts. */
export type RailItem =
  | { readonly kind: "attempt"; readonly attempt: Attempt }
  | { readonly kind: "wait"; readonly ms: number; readonly isOver: boolean; readonly key: string }
  | { readonly kind: "next"; readonly number: number; readonly at: string }
  | { readonly kind: "fold"; readonly count: number };

/** Pauses that a reader would not call one. */
const MIN_WAIT_MS = 2_000;
const MAX_ATTEMPTS = 6;
const KEPT_AT_EACH_END = 3;

/**
 * The attempts on one account from the first to the newest, with the waits between them and the
 * next one. Of more than six the middle is folded, unless the reader asks for it.
 */
export function toRail(
  attempts: readonly Attempt[],
  nextAttemptAt: string | null,
  isUnfolded: boolean,
): readonly RailItem[] {
  const sorted = [...attempts].sort((one, other) => one.number - other.number);
  const lines = sorted.flatMap((attempt, index) => [
    ...waitBetween(sorted[index - 1]?.finishedAt, attempt.startedAt, true),
    { kind: "attempt", attempt } as const,
  ]);
  const last = sorted.at(-1);
  const next: RailItem[] =
    nextAttemptAt === null || last === undefined
      ? []
      : [
          ...waitBetween(last.finishedAt, nextAttemptAt, false),
          { kind: "next", number: last.number + 1, at: nextAttemptAt },
        ];
  return [...(isUnfolded ? lines : fold(lines, sorted.length)), ...next];
}

function waitBetween(
  from: string | null | undefined,
  to: string | null,
  isOver: boolean,
): readonly RailItem[] {
  if (from === null || from === undefined || to === null) return [];
  const ms = Date.parse(to) - Date.parse(from);
  return ms < MIN_WAIT_MS ? [] : [{ kind: "wait", ms, isOver, key: to }];
}

function fold(lines: readonly RailItem[], count: number): readonly RailItem[] {
  if (count <= MAX_ATTEMPTS) return lines;
  const places = lines.flatMap(({ kind }, index) => (kind === "attempt" ? [index] : []));
  const end = places[KEPT_AT_EACH_END] ?? 0;
  const start = places[count - KEPT_AT_EACH_END] ?? 0;
  const hidden = count - 2 * KEPT_AT_EACH_END;
  return [...lines.slice(0, end), { kind: "fold", count: hidden }, ...lines.slice(start)];
}
