/** Returns the settings of the account that the posts service stored with a target, as JSON text; empty means none. */
export function parseSettings(text: string): Readonly<Record<string, unknown>> {
  return text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
}
