import type { PostSummary } from "@postrider/client";
import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, type MouseEvent, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { isMovable, useMovePost } from "../../posts/move-post.ts";
import { whenMoveSent } from "../../posts/pending-moves.ts";
import { type PostVersion, postsApi } from "../../posts/posts-api.ts";
import { refusedMove } from "../../posts/refused-moves.ts";
import { useSettings } from "../../settings/settings.ts";
import { toInstantText } from "../../time/place-in-zone.ts";
import { dropOn } from "./drop.ts";
import { handleClick, handleKey } from "./grid-events.ts";
import { useChipDrag } from "./use-chip-drag.ts";
import type { Place } from "./use-place.ts";

interface GridOptions {
  readonly posts: readonly PostSummary[];
  readonly place: Place;
  readonly canWrite: boolean;
  /** A day was pressed where no post is. */
  readonly onPropose: (day: string) => void;
}

/** What a reader saw of a post is still so; changes of its state are told by the refusal. */
function isAsSeen(seen: PostSummary, { post }: PostVersion): boolean {
  return (
    seen.scheduledAt === post.scheduledAt &&
    seen.content === post.content &&
    seen.status === post.status
  );
}

/**
 * A dialog with another time for a post, and the time that it proposes. It stays when a live change
 * takes the post out of the range.
 */
interface Moving {
  readonly post: PostSummary;
  readonly proposed?: string;
}

/**
 * Drops move posts; the version is that of the moment in which the post was lifted. A draft would
 * be scheduled by that, so a dialog asks first.
 */
function useDrops(onDraft: (moving: Moving) => void) {
  const client = useQueryClient();
  const { zone } = useSettings();
  const { moveOrRefuse } = useMovePost();
  const lifted = useRef<Promise<PostVersion>>(undefined);
  const read = async (id: string) => {
    await whenMoveSent(id);
    return await client.query({ ...postsApi.post(id), staleTime: 0 });
  };
  const onLift = ({ id }: PostSummary) => {
    lifted.current = read(id);
    // The drop tells of the error; a drag that is given up needs no version.
    lifted.current.catch(() => undefined);
  };
  const onDrop = async (post: PostSummary, day: string) => {
    const from = post.scheduledAt;
    if (from === null) return;
    const now = Temporal.Now.zonedDateTimeISO(zone);
    const { placement, fault } = dropOn(from, Temporal.PlainDate.from(day), now);
    if (fault !== undefined) return;
    const to = toInstantText(placement.at);
    if (post.status === "draft") {
      onDraft({ post, proposed: to });
      return;
    }
    const move = { id: post.id, from, to, etag: undefined };
    try {
      const version = await lifted.current;
      const isSeen = version !== undefined && isAsSeen(post, version);
      // A tag that no version has lets the server say that there is another version.
      await moveOrRefuse({ ...move, etag: isSeen ? version.etag : '"seen-before"' });
    } catch (error) {
      refusedMove.set({ move, error });
    }
  };
  return { onLift, onDrop: (post: PostSummary, day: string) => void onDrop(post, day) };
}

/** The day is drawn by then. */
function focusOn(day: string): void {
  document.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus();
}

/** Everything that one can do with the days and posts of a calendar. */
export function useGrid({ posts, place, canWrite, onPropose }: GridOptions) {
  const [, navigate] = useLocation();
  const [openDay, setOpenDay] = useState<string>();
  const [moving, setMoving] = useState<Moving>();
  const find = (id: string) => (canWrite ? posts.find((post) => post.id === id) : undefined);
  const { drag, onPointerDown } = useChipDrag({ find, ...useDrops(setMoving) });
  const startMove = (id: string) => {
    const post = find(id);
    if (post !== undefined && isMovable(post, Date.now())) setMoving({ post });
  };
  const actions = {
    onPost: (id: string) => navigate(`/posts/${id}`),
    onDay: setOpenDay,
    onPropose,
    onSlot: (at: string) => navigate(`/posts/new?at=${at}`),
    onLeave: (day: string) => {
      place.go(Temporal.PlainDate.from(day));
      requestAnimationFrame(() => focusOn(day));
    },
  };
  useKeys({
    m: () => {
      const id = document.activeElement?.closest<HTMLElement>("[data-post]")?.dataset["post"];
      if (id !== undefined) startMove(id);
    },
  });
  return {
    handlers: {
      onPointerDown,
      onClick: (event: MouseEvent<HTMLElement>) => handleClick(event, actions),
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => handleKey(event, actions),
    },
    drag,
    dropDay: drag?.day,
    openDay,
    closeDay: () => setOpenDay(undefined),
    moving: moving?.post,
    proposed: moving?.proposed,
    startMove,
    endMove: () => setMoving(undefined),
    onSlot: actions.onSlot,
  };
}

export type Grid = ReturnType<typeof useGrid>;
