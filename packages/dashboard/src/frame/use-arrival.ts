import { useEffect, useRef } from "react";

/**
 * What a browser does when it loads another page: the new one begins at its top, unless the reader
 * came back to it, and screen readers and `Tab` begin with its content.
 */
export function useArrival(path: string): void {
  const cameBack = useRef(false);
  const last = useRef(path);
  useEffect(() => {
    const note = () => {
      cameBack.current = true;
    };
    addEventListener("popstate", note);
    return () => removeEventListener("popstate", note);
  }, []);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    if (!cameBack.current) scrollTo(0, 0);
    cameBack.current = false;
    document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
  }, [path]);
}
