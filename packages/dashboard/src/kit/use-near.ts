import { useEffect, useRef } from "react";

/**
 * Three screens above and below. The browser draws what is hidden by `content-visibility: auto` one
 * screen before it is seen, and a whole day at once would take longer than a frame.
 */
const NEAR = { rootMargin: "300% 0px" };

const observer =
  "IntersectionObserver" in globalThis
    ? new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries)
          target.toggleAttribute("data-near", isIntersecting);
      }, NEAR)
    : undefined;

/** Marks an element with `data-near` while it is near to what is seen, without a render. */
export function useNear<E extends Element>() {
  const ref = useRef<E>(null);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    observer?.observe(element);
    return () => observer?.unobserve(element);
  }, []);
  return ref;
}
