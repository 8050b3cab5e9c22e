import type { MouseEvent, ReactElement } from "react";
import { expect, test, vi } from "vitest";
import { Button } from "./button.tsx";

type Shown = ReactElement<{ readonly onClick?: (event: MouseEvent) => void }>;

/** Presses the button, or Enter in a field of its form, which browsers turn into a press. */
function press(props: Parameters<typeof Button>[0]) {
  const event = { preventDefault: vi.fn<() => void>() };
  (Button(props) as Shown).props.onClick?.(event as unknown as MouseEvent);
  return { isPrevented: event.preventDefault.mock.calls.length > 0 };
}

test("a busy button submits its form no second time, and does nothing of its own", () => {
  const onClick = vi.fn<() => void>();
  expect(press({ type: "submit", busy: true, onClick })).toEqual({ isPrevented: true });
  expect(onClick).not.toHaveBeenCalled();
  expect(press({ type: "submit", onClick })).toEqual({ isPrevented: false });
  expect(onClick).toHaveBeenCalledOnce();
});
