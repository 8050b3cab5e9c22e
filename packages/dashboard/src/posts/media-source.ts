/**
 * The address of a file for this page. Files of this installation have the address at which it is
 * known to others; the page may be open under another one, and loads from its own origin only, and
 * from the object store.
 */
export function mediaSource(url: string, origin: string, stores: readonly string[]): string {
  const parsed = URL.parse(url, origin);
  if (parsed === null || stores.includes(parsed.origin)) return url;
  return parsed.pathname + parsed.search;
}
