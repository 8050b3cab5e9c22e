import type { PlatformId } from "#src/registry.ts";

interface LinkForm {
  readonly hosts: readonly string[];
  /** Matches the path and query of a link to a post; the pattern's first group is the platform's id of the post. */
  readonly pattern: RegExp;
}

/**
 * For each platform, the forms of links to posts. Undefined for a platform whose links contain another id than its API
 * uses.
 */
const FORMS = {
  instagram: undefined,
  x: {
    hosts: ["x.com", "twitter.com", "mobile.twitter.com"],
    pattern: /^\/(?:i\/web|\w+)\/status\/(\d+)/,
  },
  // Only these forms of links to Facebook posts contain the id that Facebook's API uses.
  facebook: {
    hosts: ["facebook.com", "m.facebook.com"],
    pattern: /^\/(?:reel\/|[\w.-]+\/videos\/|(?=\d+_))(\d+(?:_\d+)?)/,
  },
  tiktok: { hosts: ["tiktok.com"], pattern: /^\/@[^/]+\/(?:video|photo)\/(\d+)/ },
  youtube: {
    hosts: ["youtube.com", "m.youtube.com"],
    pattern: /^\/(?:watch\?(?:.*&)?v=|shorts\/)([\w-]{11})/,
  },
  telegram: { hosts: ["t.me", "telegram.me"], pattern: /^\/(?:c\/\d+|(?:s\/)?\w+)\/(\d+)/ },
  bluesky: { hosts: ["bsky.app"], pattern: /^\/profile\/[^/]+\/post\/([\w.~:-]+)/ },
} satisfies Record<PlatformId, LinkForm | undefined>;

/** Returns the platform's id of the post to which a link leads, or null when the link does not contain this id. */
export function findExternalId(platform: PlatformId, link: URL): string | null {
  const form: LinkForm | undefined = FORMS[platform];
  const host = link.hostname.replace(/^www\./, "");
  if (form === undefined || !form.hosts.includes(host)) return null;
  return form.pattern.exec(link.pathname + link.search)?.[1] ?? null;
}
