import { Fragment, type ReactNode, useCallback, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { classNames } from "./class-names.ts";
import { placeBeside } from "./place-beside.ts";
import css from "./popover.module.css";

function moveBeside(anchor: HTMLElement, box: HTMLElement, align: "start" | "end"): void {
  const { offsetWidth: width, offsetHeight: height } = box;
  const page = { width: document.documentElement.clientWidth, height: window.innerHeight };
  const { top, left } = placeBeside(anchor.getBoundingClientRect(), { width, height }, page, align);
  box.style.top = `${top}px`;
  box.style.left = `${left}px`;
}

function isShown(box: HTMLElement | null): boolean {
  return box?.matches(":popover-open") ?? false;
}

export interface TriggerProps {
  readonly ref: (element: HTMLElement | null) => void;
  readonly onClick: () => void;
  readonly "aria-expanded": boolean;
}

interface PopoverProps {
  readonly trigger: (props: TriggerProps) => ReactNode;
  readonly children: (close: () => void) => ReactNode;
  readonly align?: "start" | "end";
  readonly className?: string | undefined;
}

/**
 * A box that floats beside what opened it, by the browser's own popover: Esc and a click elsewhere
 * close it, and focus goes back to the trigger.
 */
export function Popover({ trigger, children, align = "start", className }: PopoverProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const [box, setBox] = useState<HTMLElement | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [opening, setOpening] = useState(0);
  useEffect(() => {
    if (!isOpen || anchor === null || box === null) return undefined;
    const put = () => moveBeside(anchor, box, align);
    put();
    const observer = new ResizeObserver(put);
    observer.observe(box);
    addEventListener("resize", put);
    addEventListener("scroll", put, true);
    return () => {
      observer.disconnect();
      removeEventListener("resize", put);
      removeEventListener("scroll", put, true);
    };
  }, [isOpen, anchor, box, align]);
  const close = useCallback(() => {
    box?.hidePopover();
    anchor?.focus();
  }, [anchor, box]);
  // The browser's event comes later; keys that are pressed meanwhile would miss a field in the box,
  // and a box that is closed and opened again at once would not put the focus into itself.
  const toggle = () => {
    box?.togglePopover();
    flushSync(() => {
      setOpen(isShown(box));
      setOpening((count) => count + 1);
    });
  };
  return (
    <>
      {trigger({
        ref: setAnchor,
        onClick: toggle,
        "aria-expanded": isOpen,
      })}
      <div
        ref={setBox}
        popover="auto"
        className={classNames(css.popover, className)}
        onToggle={() => setOpen(isShown(box))}
      >
        {isOpen && <Fragment key={opening}>{children(close)}</Fragment>}
      </div>
    </>
  );
}
