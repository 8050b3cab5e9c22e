import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** A person at a page who has a keyboard and no mouse. */
export interface Keyboard {
  press(key: string): Promise<void>;
  /** Types into what has the focus. */
  type(text: string): Promise<void>;
  /** Moves the focus forwards with `Tab` until the element has it. */
  tabTo(target: Locator): Promise<void>;
  /** Moves the focus there and presses `Enter`, or another key. */
  activate(target: Locator, key?: string): Promise<void>;
  /** Moves the focus to a field and types over what is in it. */
  fill(target: Locator, text: string): Promise<void>;
  /** Waits until the element has the focus, which the page has moved there. */
  whenFocused(target: Locator): Promise<void>;
}

/** More stops than the longest screen has. */
const MAX_STOPS = 90;

/**
 * What a person sees of the focus: whether its element lies in the window and nothing covers it,
 * whether a ring of two pixels is drawn around it or around what it stands in, and whether it comes
 * after the element that had the focus before.
 */
const SEE_FOCUS = `(() => {
  const element = document.activeElement;
  const before = window.lastFocus;
  window.lastFocus = element;
  if (element === null || element === document.body) return { isNowhere: true };
  const line = [];
  for (let at = element; at !== null && line.length < 8; at = at.parentElement) line.push(at);
  const hasRing = line.some((each) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 || boxShadow.includes(" 0px 0px 0px 1px");
  });
  const label = element.closest("label") ?? element;
  const points = [element, label].flatMap((each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [0.5, 0.1, 0.9].map((part) =>
      document.elementFromPoint(left + width * part, Math.min(top + height * part, innerHeight - 1)));
  });
  const isSeen = points.some((point) => point !== null && (label.contains(point) || point.contains(label)));
  const follows = Boolean(before?.isConnected) &&
    (before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const name = element.tagName + " " + (element.getAttribute("aria-label") ?? element.textContent).slice(0, 40);
  return { name, hasRing, isSeen, follows, tabIndex: element.tabIndex };
})()`;

interface Focus {
  /** The focus is with the browser itself, at the end of the page. */
  readonly isNowhere?: true;
  readonly name: string;
  readonly hasRing: boolean;
  readonly isSeen: boolean;
  readonly follows: boolean;
  readonly tabIndex: number;
}

export function createKeyboard(page: Page): Keyboard {
  const press = (key: string) => page.keyboard.press(key);
  const type = (text: string) => page.keyboard.type(text);
  const hasFocus = (target: Locator) =>
    target.evaluateAll((elements) =>
      elements.some((each) => each === each.ownerDocument.activeElement),
    );
  const whenFocused = async (target: Locator) => {
    await expect.poll(() => hasFocus(target), { message: `focus on ${String(target)}` }).toBe(true);
  };
  const tabTo = async (target: Locator) => {
    await target.first().waitFor();
    const backwards: string[] = [];
    for (let stops = 0; stops < MAX_STOPS && !(await hasFocus(target)); stops += 1) {
      await press("Tab");
      const { isNowhere, name, follows, ...seen } = await page.evaluate<Focus>(SEE_FOCUS);
      if (isNowhere) continue;
      expect({ name, ...seen }).toEqual({ name, hasRing: true, isSeen: true, tabIndex: 0 });
      if (!follows) backwards.push(name);
    }
    await whenFocused(target);
    // Once at most: from the end of the page, or of a dialog, to its beginning.
    expect(backwards.length, backwards.join(", ")).toBeLessThanOrEqual(2);
  };
  return {
    press,
    type,
    tabTo,
    whenFocused,
    activate: async (target, key = "Enter") => {
      await tabTo(target);
      await press(key);
    },
    fill: async (target, text) => {
      await tabTo(target);
      await press("Control+a");
      await type(text);
    },
  };
}
