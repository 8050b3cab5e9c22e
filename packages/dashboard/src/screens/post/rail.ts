/** What the rail needs of an attempt: one on an account, or one to deliver an event. */
export interface RailAttempt {
  readonly number: number;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

/** One line of the rail of attempts. */
export type RailItem<A extends RailAttempt> =
  | { readonly kind: "attempt"; readonly attempt: A }
  | Pause
  | { readonly kind: "next"; readonly number: number; readonly at: string }
  | { readonly kind: "fold"; readonly count: number };

interface Pause {
  readonly kind: "wait";
  readonly ms: number;
  readonly isOver: boolean;
  readonly key: string;
}

/** Pauses that a reader would not call one. */
const MIN_WAIT_MS = 2_000;
const MAX_ATTEMPTS = 6;
const KEPT_AT_EACH_END = 3;

/**
 * The attempts from the first to the newest, with the waits between them and the
 * next one. Of more than six the middle is folded, unless the reader asks for it.
 */
export function toRail<A extends RailAttempt>(
  attempts: readonly A[],
  nextAttemptAt: string | null,
  isUnfolded: boolean,
): readonly RailItem<A>[] {
  const sorted = [...attempts].sort((one, other) => one.number - other.number);
  const lines = sorted.flatMap((attempt, index) => [
    ...waitBetween(sorted[index - 1]?.finishedAt, attempt.startedAt, true),
    { kind: "attempt", attempt } as const,
  ]);
  const last = sorted.at(-1);
  const next: readonly RailItem<A>[] =
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
): readonly Pause[] {
  if (from === null || from === undefined || to === null) return [];
  const ms = Date.parse(to) - Date.parse(from);
  return ms < MIN_WAIT_MS ? [] : [{ kind: "wait", ms, isOver, key: to }];
}

function fold<A extends RailAttempt>(
  lines: readonly RailItem<A>[],
  count: number,
): readonly RailItem<A>[] {
  if (count <= MAX_ATTEMPTS) return lines;
  const places = lines.flatMap(({ kind }, index) => (kind === "attempt" ? [index] : []));
  const end = places[KEPT_AT_EACH_END] ?? 0;
  const start = places[count - KEPT_AT_EACH_END] ?? 0;
  const hidden = count - 2 * KEPT_AT_EACH_END;
  return [...lines.slice(0, end), { kind: "fold", count: hidden }, ...lines.slice(start)];
}
