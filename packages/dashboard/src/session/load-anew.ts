/**
 * Loads the page anew when *Back* restores it from the memory of the browser: after a logout it
 * would show what it showed before to the next person at this computer.
 */
export function loadAnewIfRestored(page: EventTarget, reload: () => void): void {
  page.addEventListener("pageshow", (event) => {
    if ("persisted" in event && event.persisted === true) reload();
  });
}
