import { useKeys } from "../../keys/use-keys.ts";

function listRows(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-row]")];
}

/** `J` and `K` move over the rows of a list; the browser's `Enter` opens the one in focus. */
export function useListKeys(): void {
  const move = (step: number) => {
    const rows = listRows();
    const current = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[current === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, current + step))];
    next?.querySelector("a")?.focus();
  };
  const press = (key: string) => {
    const row = document.activeElement?.closest("[data-row]");
    row?.querySelector<HTMLElement>(`[data-key="${key}"]`)?.click();
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    r: () => press("r"),
    "/": () => document.querySelector<HTMLElement>("[data-filters] button")?.focus(),
  });
}
