import type { PlatformId } from "#src/registry.ts";

interface LinkForm {
  readonly hosts: readonly string[];
  /** Matches the path and query of a link; its first group is the platform's id of the post. */
  readonly pattern: RegExp;
}

/** The forms of links to posts. Undefined where a link contains another id than the API of the platform uses. */
const FORMS = {
  instagram: undefined,
  x: {
    hosts: ["x.com", "twitter.com", "mobile.twitter.com"],
    pattern: /^\/(?:i\/web|\w+)\/status\/(\d+)/,
  },
  // Only these forms of links contain the id of the API; links to other posts contain another id.
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

/** Returns the platform's id of the post to which a link leads, or null when the link does not contain the id. */
export function findExternalId(platform: PlatformId, link: URL): string | null {
  const form: LinkForm | undefined = FORMS[platform];
  const host = link.hostname.replace(/^www\./, "");
  if (form === undefined || !form.hosts.includes(host)) return null;
  return form.pattern.exec(link.pathname + link.search)?.[1] ?? null;
}
