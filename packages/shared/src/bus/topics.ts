/**
 * The service that publishes the events of each domain. The events of each domain have a separate topic, so that a consumer
 * of an earlier release never stops at an event of a new domain, which it does not know.
 */
export const PRODUCERS = {
  accounts: "accounts",
  delivery: "delivery",
  engagement: "delivery",
  media: "media",
  posts: "posts",
} as const;

type Domain = keyof typeof PRODUCERS;

const DOMAINS = Object.keys(PRODUCERS) as readonly Domain[];

/** Name of a service that publishes events. */
export type Producer = (typeof PRODUCERS)[Domain];

export type Topic = `${Domain}.events.v1`;

/** The domains whose events a service publishes, in alphabetical order; an empty list for a service that publishes none. */
export function domainsOf(service: string): readonly Domain[] {
  return DOMAINS.filter((domain) => PRODUCERS[domain] === service);
}

/** Names of all topics of the event bus, in alphabetical order. */
export const TOPICS: readonly Topic[] = DOMAINS.map((domain) => `${domain}.events.v1` as const);

const EVENT_TYPE = /^postrider\.([a-z]+)\.(v\d+)\.[A-Za-z]+$/;

/**
 * Returns the topic of an event type: `<domain>.events.v1` for the message type `postrider.<domain>.v1.<Name>`.
 *
 * @throws An error if the message type does not have this form.
 */
export function topicOf(type: string): string {
  const [, domain, version] = EVENT_TYPE.exec(type) ?? [];
  if (domain === undefined || version === undefined)
    throw new Error(
      `the event type ${type} has no topic; define its message in a package postrider.<domain>.v1`,
    );
  return `${domain}.events.${version}`;
}
