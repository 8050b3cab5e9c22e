export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Followers {
  /** Once, when the pointer has moved far enough to mean it. */
  readonly onLift: () => void;
  readonly onMove: (point: Point) => void;
  /** `isDropped` is false after Escape, and where the browser took the pointer away. */
  readonly onEnd: (isDropped: boolean) => void;
}

/** A press that moves less far is a click. */
const SLOP_PX = 5;

/** Follows a press until it ends; answers with a function that gives up. */
export function followPointer(start: Point, { onLift, onMove, onEnd }: Followers): () => void {
  let isLifted = false;
  const move = ({ clientX: x, clientY: y }: PointerEvent) => {
    if (!isLifted && Math.hypot(x - start.x, y - start.y) <= SLOP_PX) return;
    if (!isLifted) onLift();
    isLifted = true;
    onMove({ x, y });
  };
  const end = (isDropped: boolean) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", giveUp);
    removeEventListener("keydown", press, true);
    if (isLifted) onEnd(isDropped);
  };
  const up = () => end(true);
  const giveUp = () => end(false);
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isLifted) return;
    event.stopPropagation();
    end(false);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", giveUp);
  addEventListener("keydown", press, true);
  return giveUp;
}
