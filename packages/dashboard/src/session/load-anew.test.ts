import { expect, test, vi } from "vitest";
import { loadAnewIfRestored } from "./load-anew.ts";

test.each([
  [true, 1],
  [false, 0],
])("a page that is shown with `persisted` %s is loaded anew %i times", (persisted, count) => {
  const page = new EventTarget();
  const reload = vi.fn<() => void>();
  loadAnewIfRestored(page, reload);
  page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted }));
  expect(reload).toHaveBeenCalledTimes(count);
});
