import type { PlatformId } from "#src/registry.ts";

interface LinkForm {
  readonly hosts: readonly string[];
  /** Its first group is the platform's id, in path and query. */
  readonly pattern: RegExp;
}

/** The links that readers see and whose ids the platform's API takes; where these differ, there is no form. */
const FORMS = {
  instagram: undefined,
  x: {
    hosts: ["x.com", "twitter.com", "mobile.twitter.com"],
    pattern: /^\/(?:i\/web|\w+)\/status\/(\d+)/,
  },
  // Links of posts name them by other ids than the API.
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

/** The platform's id of the post that a link shows, or null when it cannot be read from the link. */
export function findExternalId(platform: PlatformId, link: URL): string | null {
  const form: LinkForm | undefined = FORMS[platform];
  const host = link.hostname.replace(/^www\./, "");
  if (form === undefined || !form.hosts.includes(host)) return null;
  return form.pattern.exec(link.pathname + link.search)?.[1] ?? null;
}
