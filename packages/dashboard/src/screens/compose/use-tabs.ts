import { useState } from "react";
import { flushSync } from "react-dom";
import { useKeys } from "../../keys/use-keys.ts";
import type { Composition } from "./composition.ts";
import type { Place } from "./faults.ts";

/** The tab that is open, and the way to the place where something is changed. */
export function useTabs(
  parts: Omit<Composition, "chosen" | "tab" | "openTab" | "go">,
): Composition {
  const [tab, setTab] = useState("all");
  const chosen = parts.writers.filter(({ id }) => parts.draft.accountIds.includes(id));
  const shown = chosen.some(({ id }) => id === tab) ? tab : "all";
  const go = (place: Place, accountId?: string) => {
    flushSync(() => {
      if (accountId !== undefined) setTab(accountId);
      else if (place === "text") setTab("all");
    });
    // A field may only exist after the cure that leads to it has been carried out.
    requestAnimationFrame(() => focusPlace(place));
  };
  useKeys(
    Object.fromEntries([
      ["alt+0", () => setTab("all")],
      ...chosen.slice(0, 9).map(({ id }, index) => [`alt+${index + 1}`, () => setTab(id)]),
    ]) as Record<string, () => void>,
  );
  return { ...parts, chosen, tab: shown, openTab: setTab, go };
}

function focusPlace(place: Place): void {
  const all = [...document.querySelectorAll<HTMLElement>(`[data-place="${place}"]`)];
  const element = all.find((each) => each.checkVisibility()) ?? all[0];
  element?.scrollIntoView({ block: "center" });
  const inside = element?.querySelector<HTMLElement>("button, input, a");
  (element?.tabIndex === -1 ? (inside ?? element) : element)?.focus();
}
