import { prepareScreen } from "../screens.ts";
import { createStore } from "../settings/create-store.ts";

/** The screens that take long to draw, and whose state is in the address only. */
const DRAWN_AHEAD: ReadonlySet<string> = new Set(["/calendar"]);

/** The screen that is drawn out of sight, so that a press on its link has to show it only. */
export const aheadPath = createStore<string | undefined>(undefined);

let approached: string | undefined;

/** While the pointer or the focus is on the link of a screen, the screen is prepared. */
export async function approachScreen(path: string): Promise<void> {
  approached = path;
  await prepareScreen(path);
  if (approached === path && DRAWN_AHEAD.has(path)) aheadPath.set(path);
}

/** The pointer or the focus has left the link, or the screen is shown. */
export function leaveScreen(): void {
  approached = undefined;
  aheadPath.set(undefined);
}
