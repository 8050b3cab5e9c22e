import { useLocation } from "wouter";
import { useKeys } from "../keys/use-keys.ts";
import { useCan } from "../session/session-context.ts";
import { listItems } from "./navigation.ts";

/** Keys that work on every screen: `C`, `?`, `/`, and `G` with the letter of a place. */
export function useFrameKeys(showKeys: () => void): void {
  const can = useCan();
  const [, navigate] = useLocation();
  const places = listItems(can).flatMap(({ key, path }) =>
    key === undefined ? [] : [[`g ${key}`, () => navigate(path)] as const],
  );
  useKeys({
    "?": showKeys,
    c: () => navigate("/posts/new"),
    "/": focusFirstFilter,
    ...Object.fromEntries(places),
  });
}

/** A screen that is drawn ahead, out of sight, has filters too. */
function focusFirstFilter(): void {
  const filters = document.querySelectorAll<HTMLElement>("[data-filters] :is(button, select)");
  [...filters].find((filter) => filter.checkVisibility())?.focus();
}
