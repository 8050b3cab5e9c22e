import { useSyncExternalStore } from "react";

/** Whether a media query holds, for what differs by more than its style on a small screen. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}

/** The narrow layout: one column, and fingers. */
export function useIsNarrow(): boolean {
  return useMedia("(max-width: 47.9375em)");
}

/** The height of the window, for what is placed by the minute and fills it. */
export function useWindowHeight(): number {
  return useSyncExternalStore(
    (listener) => {
      addEventListener("resize", listener);
      return () => removeEventListener("resize", listener);
    },
    () => innerHeight,
  );
}
