import type { PostSummary } from "@postrider/client";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { api } from "../api/api.ts";
import { showToast } from "../kit/toast.tsx";
import { useSettings } from "../settings/settings.ts";
import { clockOf, dayOf } from "../time/format-time.ts";
import { toZoned } from "../time/place-in-zone.ts";
import { placeOf } from "../time/place-names.ts";
import { useWords } from "../words/use-words.ts";
import { holdMove } from "./pending-moves.ts";
import { postWords } from "./post-words.ts";
import { type Move, refusedMove } from "./refused-moves.ts";

/** From 5 s before its time a post may be on its way, and is left alone. */
const LOCK_MS = 5_000;

type Movable = Pick<PostSummary, "status" | "scheduledAt">;

/** When a post can no longer be moved or edited; undefined if that is not a question of time. */
export function lockTimeOf({ status, scheduledAt }: Movable): number | undefined {
  if (status !== "scheduled" || scheduledAt === null) return undefined;
  return Date.parse(scheduledAt) - LOCK_MS;
}

export function isLocked(post: Movable, nowMs: number): boolean {
  return post.status === "publishing" || (lockTimeOf(post) ?? Number.POSITIVE_INFINITY) <= nowMs;
}

export function isPlanned({ status }: Pick<Movable, "status">): boolean {
  return status === "draft" || status === "scheduled";
}

export function isMovable(post: Movable, nowMs: number): boolean {
  return isPlanned(post) && !isLocked(post, nowMs);
}

/**
 * Moves a post, which calendars show at once, and again as it was if the move is refused. Answers
 * with the move that undoes this one; undefined for a draft.
 */
async function movePost(client: QueryClient, move: Move): Promise<Move | undefined> {
  const { id, from, to, etag } = move;
  let newTag: string | undefined;
  const onResponse = ({ headers }: Response) => {
    newTag = headers.get("etag") ?? undefined;
  };
  const sent = api.updatePost(id, { scheduledAt: to }, { ifMatch: etag, onResponse });
  await holdMove(move, sent, () => client.invalidateQueries({ queryKey: ["post"] }));
  return from === null ? undefined : { id, from: to, to: from, etag: newTag };
}

/**
 * `move` throws when it is refused; `moveOrRefuse` leaves that to the frame. Both offer the way
 * back, which is refused as well when the post was changed in between.
 */
export function useMovePost() {
  const client = useQueryClient();
  const words = useWords(postWords).move;
  const { language, zone } = useSettings();
  const move = async (wanted: Move): Promise<void> => {
    const back = await movePost(client, wanted);
    const at = toZoned(wanted.to, zone);
    const day = dayOf(at, Temporal.Now.zonedDateTimeISO(zone), language);
    const say = wanted.from === null ? words.scheduled : words.moved;
    const text = say(day, clockOf(at, language), placeOf(zone, language));
    showToast(text, back && (() => void moveOrRefuse(back)));
  };
  const moveOrRefuse = async (wanted: Move): Promise<void> => {
    try {
      await move(wanted);
    } catch (error) {
      refusedMove.set({ move: wanted, error });
    }
  };
  return { move, moveOrRefuse };
}
