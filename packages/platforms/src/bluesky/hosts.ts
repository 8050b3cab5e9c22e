/**
 * Bluesky's own repository hosts, on which accounts of `bsky.social` are stored, such as
 * `morel.us-east.host.bsky.network` (docs.bsky.app/docs/advanced-guides/entryway, read 2026-11-23).
 * Bluesky's relay trusts its own hosts by the same suffix (github.com/bluesky-social/indigo, the
 * default of `trusted-domains` in cmd/relay/main.go).
 */
const BLUESKY_HOSTS = ".host.bsky.network";

export function isBlueskysHost(url: string): boolean {
  return URL.parse(url)?.hostname.endsWith(BLUESKY_HOSTS) ?? false;
}
