const GAP = 4;
const EDGE = 8;

/** Below the anchor, or above it where there is more room; never outside of the window. */
export function placeBeside(
  anchor: Pick<DOMRect, "top" | "bottom" | "left" | "right">,
  size: { readonly width: number; readonly height: number },
  page: { readonly width: number; readonly height: number },
  align: "start" | "end",
): { readonly top: number; readonly left: number } {
  const below = anchor.bottom + GAP;
  const fits =
    below + size.height <= page.height - EDGE || anchor.top < page.height - anchor.bottom;
  const top = fits ? below : Math.max(EDGE, anchor.top - GAP - size.height);
  const wanted = align === "start" ? anchor.left : anchor.right - size.width;
  return { top, left: Math.max(EDGE, Math.min(wanted, page.width - EDGE - size.width)) };
}
