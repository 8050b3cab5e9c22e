/** An address as lists show it: all but the scheme tells endpoints apart. */
export function urlText(url: string): string {
  return url.replace(/^https?:\/\//iu, "");
}
