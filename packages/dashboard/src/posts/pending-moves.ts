import type { PostSummary } from "@postrider/client";
import { createStore, useStore } from "../settings/create-store.ts";
import type { Move } from "./refused-moves.ts";

interface PendingMove {
  readonly to: string;
  /** Settled when the server has answered. */
  readonly sent: Promise<unknown>;
}

type PendingMoves = ReadonlyMap<string, PendingMove>;

/**
 * Moves that were made here and that no list has read yet, by post. A list that is read before the
 * server has answered, for example because of a live change, is older than the move: shown as it
 * is, the post would jump back for a moment, and a key that is pressed then would miss it.
 */
const pending = createStore<PendingMoves>(new Map());

function without(id: string, move: PendingMove): PendingMoves {
  return new Map([...pending.get()].filter(([key, one]) => key !== id || one !== move));
}

/**
 * Shows a move until `readAgain` has ended after it, or until it is refused. Answers as `sent`.
 */
export async function holdMove<T>(
  { id, to }: Pick<Move, "id" | "to">,
  sent: Promise<T>,
  readAgain: () => Promise<unknown>,
): Promise<T> {
  const move = { to, sent };
  const end = () => pending.set(without(id, move));
  pending.set(new Map(pending.get()).set(id, move));
  try {
    const answer = await sent;
    void readAgain().finally(end);
    return answer;
  } catch (error) {
    end();
    void readAgain();
    throw error;
  }
}

/** Waits until the server knows the move of a post, so that what is read then contains it. */
export async function whenMoveSent(id: string): Promise<void> {
  await pending
    .get()
    .get(id)
    ?.sent.catch(() => undefined);
}

/** Posts at the times to which they are being moved. */
export function atNewTimes(
  posts: readonly PostSummary[],
  moves: PendingMoves = pending.get(),
): readonly PostSummary[] {
  if (moves.size === 0) return posts;
  return posts.map((post) => {
    const move = moves.get(post.id);
    return move === undefined ? post : { ...post, scheduledAt: move.to };
  });
}

export function usePendingMoves(): PendingMoves {
  return useStore(pending);
}
