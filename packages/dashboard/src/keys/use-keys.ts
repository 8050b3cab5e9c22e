import { useEffectEvent, useLayoutEffect } from "react";
import { readSettings } from "../settings/settings.ts";
import { keyNameOf, matchSequence } from "./key-names.ts";

/** A key, such as "c", "?" or "mod+enter", or two in a row, such as "g p"; and what it does. */
export type KeyHandlers = Readonly<Record<string, (event: KeyboardEvent) => void>>;

interface Layer {
  readonly handlers: () => KeyHandlers;
}

const SEQUENCE_MS = 1_200;
const layers: Layer[] = [];
let before: { readonly key: string; readonly at: number } | undefined;

/** The newest layer that knows a key handles it, so that a screen goes before the frame. */
function handle(event: KeyboardEvent): void {
  // What floats above the page has its own keys: Esc closes it, and nothing behind it acts.
  if (event.defaultPrevented || event.isComposing || isCovered()) return;
  const key = keyNameOf(event);
  if (key !== undefined && (!isLetter(key) || takesLetters(event))) press(key, event);
}

function press(key: string, event: KeyboardEvent): void {
  const recent = before !== undefined && event.timeStamp - before.at < SEQUENCE_MS;
  const match = matchSequence(
    layers.toReversed().map((layer) => layer.handlers()),
    recent ? before?.key : undefined,
    key,
  );
  before = match === undefined ? { key, at: event.timeStamp } : undefined;
  if (match === undefined) return;
  event.preventDefault();
  match(event);
}

function isCovered(): boolean {
  return document.querySelector("dialog[open], :popover-open") !== null;
}

/** Keys without a modifier are off while typing, and where they are switched off. */
function takesLetters({ target }: KeyboardEvent): boolean {
  if (!readSettings().letterKeys) return false;
  const typing = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
  return !(target instanceof Element && target.matches(typing));
}

function isLetter(key: string): boolean {
  return !key.includes("+") && key !== "escape";
}

/** Keys of a component while it is mounted. They work as soon as it is seen, not a moment later. */
export function useKeys(handlers: KeyHandlers): void {
  const newest = useEffectEvent(() => handlers);
  useLayoutEffect(() => {
    const layer = { handlers: newest };
    if (layers.length === 0) addEventListener("keydown", handle);
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (layers.length === 0) removeEventListener("keydown", handle);
    };
  }, []);
}
