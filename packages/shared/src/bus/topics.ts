/** One topic each, so that an older consumer never stops at an event of a new domain. */
export const PRODUCERS = {
  accounts: "accounts",
  backlog: "posts",
  delivery: "delivery",
  engagement: "delivery",
  media: "media",
  posts: "posts",
} as const;

type Domain = keyof typeof PRODUCERS;

const DOMAINS = Object.keys(PRODUCERS) as readonly Domain[];

export type Producer = (typeof PRODUCERS)[Domain];

export type Topic = `${Domain}.events.v1`;

/** In alphabetical order; empty for a service that publishes none. */
export function domainsOf(service: string): readonly Domain[] {
  return DOMAINS.filter((domain) => PRODUCERS[domain] === service);
}

export const TOPICS: readonly Topic[] = DOMAINS.map((domain) => `${domain}.events.v1` as const);

const EVENT_TYPE = /^postrider\.([a-z]+)\.(v\d+)\.[A-Za-z]+$/;

/**
 * `<domain>.events.v1` for `postrider.<domain>.v1.<Name>`.
 *
 * @throws An error for another form.
 */
export function topicOf(type: string): string {
  const [, domain, version] = EVENT_TYPE.exec(type) ?? [];
  if (domain === undefined || version === undefined)
    throw new Error(
      `the event type ${type} has no topic; define its message in a package postrider.<domain>.v1`,
    );
  return `${domain}.events.${version}`;
}
