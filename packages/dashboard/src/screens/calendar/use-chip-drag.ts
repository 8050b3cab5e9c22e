import type { PostSummary } from "@postrider/client";
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { isMovable } from "../../posts/move-post.ts";
import { followPointer, type Point } from "./follow-pointer.ts";

export interface Drag {
  readonly post: PostSummary;
  /** The day under the pointer, if it is another one than that of the post. */
  readonly day: string | undefined;
  /** Where the post was lifted. */
  readonly start: Point;
}

interface DragOptions {
  readonly find: (id: string) => PostSummary | undefined;
  /** When a post is lifted: its version is read now, so that the drop names what was seen. */
  readonly onLift: (post: PostSummary) => void;
  readonly onDrop: (post: PostSummary, day: string) => void;
}

function dataOf(element: Element | null, name: "post" | "day"): string | undefined {
  return element?.closest<HTMLElement>(`[data-${name}]`)?.dataset[name];
}

/** The click that ends a drag opens nothing; it follows at once, or not at all. */
function ignoreNextClick(): void {
  const ignore = (event: Event) => {
    event.stopPropagation();
    event.preventDefault();
  };
  addEventListener("click", ignore, true);
  setTimeout(() => removeEventListener("click", ignore, true));
}

/**
 * Drags chips with a mouse or a pen; fingers scroll, and have *Move to…*. A render happens only
 * when the pointer reaches another day: the ghost follows it by itself.
 */
export function useChipDrag({ find, onLift, onDrop }: DragOptions) {
  const [drag, setDrag] = useState<Drag>();
  const giveUp = useRef<() => void>(undefined);
  useEffect(() => () => giveUp.current?.(), []);

  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const pressed = event.target as Element;
    const post = find(dataOf(pressed, "post") ?? "");
    if (post === undefined || !isMovable(post, Date.now())) return;
    const home = dataOf(pressed, "day");
    const start = { x: event.clientX, y: event.clientY };
    let day: string | undefined;
    giveUp.current = followPointer(start, {
      onLift: () => onLift(post),
      onMove: ({ x, y }) => {
        const under = dataOf(document.elementFromPoint(x, y), "day");
        day = under === home ? undefined : under;
        setDrag((before) => (before?.day === day && before ? before : { post, day, start }));
      },
      onEnd: (isDropped) => {
        setDrag(undefined);
        ignoreNextClick();
        if (isDropped && day !== undefined) onDrop(post, day);
      },
    });
  };
  return { drag, onPointerDown };
}
