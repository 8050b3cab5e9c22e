import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

/** What is this near to what is seen is drawn. Chromium doubles it where the page scrolls. */
const MARGIN = "400px 0px";
/** Rows that are drawn for one frame, as many as are in one chunk. */
const ROWS_PER_FRAME = 4;

interface Box {
  /** Draws the rows, which have no height of their own then. */
  readonly draw: () => void;
  /** Removes the rows, whose height in pixels is kept. */
  readonly remove: (height: number) => void;
}

const boxes = new WeakMap<Element, Box>();
/** Boxes whose rows something was pressed in: what it began or opened stays. */
const used = new WeakSet<Element>();
const coming = new Map<Element, DOMRectReadOnly>();
const leaving = new Map<Element, DOMRectReadOnly>();
let isAsked = false;
let observer: IntersectionObserver | undefined;

function observe(): IntersectionObserver {
  const margins = { rootMargin: MARGIN, scrollMargin: MARGIN };
  observer ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      (isIntersecting ? leaving : coming).delete(target);
      (isIntersecting ? coming : leaving).set(target, boundingClientRect);
    }
    askForChange();
  }, margins);
  return observer;
}

/** Once for each frame, but not within it, which would make one long task of two short ones. */
function askForChange(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => setTimeout(change));
}

function change(): void {
  isAsked = false;
  // What React draws when it thinks fit comes together with the rows of further frames.
  flushSync(changeSome);
  if (coming.size > 0) askForChange();
}

/** Draws some rows that came near, those first that are seen, and removes those that left. */
function changeSome(): void {
  const middle = innerHeight / 2;
  const distance = ({ top, bottom }: DOMRectReadOnly) => Math.max(top - middle, middle - bottom);
  const nearest = [...coming].sort(([, one], [, other]) => distance(one) - distance(other));
  let rows = 0;
  for (const [element] of nearest) {
    rows += element.querySelectorAll("[data-far]").length;
    if (rows > ROWS_PER_FRAME) break;
    coming.delete(element);
    boxes.get(element)?.draw();
  }
  for (const [element, { height }] of leaving) {
    if (isInUse(element)) continue;
    leaving.delete(element);
    boxes.get(element)?.remove(height);
  }
}

/** Whether removing the rows would lose the focus, a selection, or what was begun in them. */
function isInUse(element: Element): boolean {
  const selection = getSelection();
  return (
    used.has(element) ||
    element.contains(document.activeElement) ||
    (selection?.isCollapsed === false && selection.containsNode(element, true))
  );
}

/**
 * Whether a part of a long list is near to what is seen: only then its rows are drawn. `ref` is for
 * the box around them, which keeps their height as its style. `isNearAtFirst` is for the rows of
 * the first screen; the others are guessed to be `guessRem` high until they were drawn.
 */
export function useIsNear<E extends HTMLElement>(isNearAtFirst: boolean, guessRem: number) {
  const ref = useRef<E>(null);
  const [height, setHeight] = useState(isNearAtFirst ? undefined : `${guessRem}rem`);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const note = () => used.add(element);
    const drawNow = () => {
      flushSync(() => setHeight(undefined));
      element.scrollIntoView({ block: "center" });
    };
    boxes.set(element, {
      draw: () => setHeight(undefined),
      remove: (px) => setHeight((kept) => kept ?? `${px}px`),
    });
    element.addEventListener("click", note);
    element.addEventListener("beforematch", drawNow);
    observe().observe(element);
    return () => {
      element.removeEventListener("click", note);
      element.removeEventListener("beforematch", drawNow);
      observe().unobserve(element);
      coming.delete(element);
      leaving.delete(element);
    };
  }, []);
  return { ref, isNear: height === undefined, style: { height } };
}
