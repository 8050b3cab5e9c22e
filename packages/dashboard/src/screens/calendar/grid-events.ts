import type { KeyboardEvent, MouseEvent } from "react";

export interface GridActions {
  readonly onPost: (id: string) => void;
  /** All posts of a day, of which some are folded. */
  readonly onDay: (day: string) => void;
  /** An empty place of a day was pressed. */
  readonly onPropose: (day: string) => void;
  /** A free slot was pressed. */
  readonly onSlot: (at: string) => void;
  /** The focus goes to a day outside of the range. */
  readonly onLeave: (day: string) => void;
}

type Name = "post" | "more" | "slot" | "day";

function dataOf(target: EventTarget | null, name: Name): string | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>(`[data-${name}]`) : null;
  return element?.dataset[name];
}

/** The one listener for clicks: what was pressed says the nearest element with a `data-` name. */
export function handleClick(event: MouseEvent<HTMLElement>, actions: GridActions): void {
  const { target } = event;
  const day = dataOf(target, "day");
  const handlers = { post: actions.onPost, more: actions.onDay, slot: actions.onSlot };
  for (const [name, handle] of Object.entries(handlers)) {
    const value = dataOf(target, name as Name);
    if (value === undefined) continue;
    // With a modifier, the browser opens the link in a tab of its own.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    handle(value);
    return;
  }
  if (day !== undefined) actions.onPropose(day);
}

const PRESSES: ReadonlySet<string> = new Set(["Enter", " "]);

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

/**
 * Arrows move the focus: left and right over days, down into the posts of a day and on to the week
 * below, up back again. Enter on a day does what a click does.
 */
export function handleKey(event: KeyboardEvent<HTMLElement>, actions: GridActions): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const { target, currentTarget: grid, key } = event;
  const cell = (target as Element).closest<HTMLElement>("[data-day]");
  const day = cell?.dataset["day"];
  if (cell === null || day === undefined) return;
  const step = STEPS[key];
  if (step !== undefined) moveFocus(grid, { cell, day, target, step }, actions);
  else if (target === cell && PRESSES.has(key)) actions.onPropose(day);
  else return;
  event.preventDefault();
}

interface Step {
  readonly cell: HTMLElement;
  readonly day: string;
  readonly target: EventTarget;
  readonly step: number;
}

function moveFocus(grid: HTMLElement, { cell, day, target, step }: Step, actions: GridActions) {
  const inside = Math.abs(step) === 7 ? nextInside(cell, target, Math.sign(step)) : undefined;
  if (inside !== undefined) inside.focus();
  else focusDay(grid, Temporal.PlainDate.from(day).add({ days: step }).toString(), actions);
}

/** The chip below or above inside of a day; the day itself lies above its first chip. */
function nextInside(cell: HTMLElement, target: EventTarget, by: number): HTMLElement | undefined {
  const places = [cell, ...cell.querySelectorAll<HTMLElement>("[data-post], [data-more]")];
  return places[places.indexOf(target as HTMLElement) + by];
}

function focusDay(grid: HTMLElement, day: string, { onLeave }: GridActions): void {
  const cell = grid.querySelector<HTMLElement>(`[data-day="${day}"]`);
  if (cell === null) onLeave(day);
  else cell.focus();
}
