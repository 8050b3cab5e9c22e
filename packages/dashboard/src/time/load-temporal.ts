/** Loads the polyfill where the browser does not have `Temporal` yet. */
export async function loadTemporal(): Promise<void> {
  if (!("Temporal" in globalThis)) await import("temporal-polyfill/global");
}
