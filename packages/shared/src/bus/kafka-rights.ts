import kafkajs, { type AclEntry } from "kafkajs";
import { openKafka, withAdmin, type KafkaClientOptions } from "#src/bus/kafka-client.ts";
import { domainsOf, type Producer, type Topic } from "#src/bus/topics.ts";

// Node finds only the first named exports of this CommonJS module.
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** Has a Kafka user of its own, because it talks to servers of customers. It publishes nothing. */
const WEBHOOKS = "delivery-webhooks";

/** Webhooks report what all events say, also those of delivery's own topics. */
const REPORTED: readonly Topic[] = [
  "accounts.events.v1",
  "backlog.events.v1",
  "delivery.events.v1",
  "engagement.events.v1",
  "media.events.v1",
  "posts.events.v1",
];

/** By Kafka user, without its prefix; in alphabetical order. */
export const CONSUMED_TOPICS: Readonly<Record<Producer | typeof WEBHOOKS, readonly Topic[]>> = {
  accounts: [],
  delivery: REPORTED,
  [WEBHOOKS]: REPORTED,
  media: [],
  posts: ["delivery.events.v1", "engagement.events.v1"],
};

/** What a service writes or reads. With a Kafka user of its own, it sees no other topic. */
export function topicsOf(service: string): readonly Topic[] {
  const consumed: Readonly<Record<string, readonly Topic[]>> = CONSUMED_TOPICS;
  const own = domainsOf(service).map((domain) => `${domain}.events.v1` as const);
  return [...new Set([...own, ...(consumed[service] ?? [])])];
}

export interface KafkaRight {
  readonly principal: string;
  readonly resource: "topic" | "group";
  readonly name: string;
  /** `prefixed`: every resource whose name begins with `name`. */
  readonly pattern: "literal" | "prefixed";
  readonly operation: "read" | "write" | "describe";
}

/**
 * A service can write only the topics of its own domains, read only those that it consumes, and use
 * only groups whose names begin with its own. Processes of delivery that only send webhooks use
 * only the groups of webhooks.
 *
 * @param userPrefix A service's Kafka user is this prefix followed by the name of the service.
 */
export function listKafkaRights(userPrefix: string): readonly KafkaRight[] {
  return Object.entries(CONSUMED_TOPICS).flatMap(([service, consumed]) => {
    const principal = `User:${userPrefix}${service}`;
    const on = (
      resource: KafkaRight["resource"],
      name: string,
      operations: readonly KafkaRight["operation"][],
    ): readonly KafkaRight[] =>
      operations.map((operation) => ({
        principal,
        resource,
        name,
        pattern: resource === "group" ? "prefixed" : "literal",
        operation,
      }));
    return [
      ...domainsOf(service).flatMap((domain) =>
        on("topic", `${domain}.events.v1`, ["write", "describe"]),
      ),
      ...consumed.flatMap((name) => on("topic", name, ["read", "describe"])),
      ...(consumed.length === 0
        ? []
        : on("group", `${service.replace("-", ".")}.`, ["read", "describe"])),
    ];
  });
}

const RESOURCES = { topic: AclResourceTypes.TOPIC, group: AclResourceTypes.GROUP };
const PATTERNS = {
  literal: ResourcePatternTypes.LITERAL,
  prefixed: ResourcePatternTypes.PREFIXED,
};
const OPERATIONS = {
  read: AclOperationTypes.READ,
  write: AclOperationTypes.WRITE,
  describe: AclOperationTypes.DESCRIBE,
};

function toAcl({ principal, resource, name, pattern, operation }: KafkaRight): AclEntry {
  return {
    principal,
    host: "*",
    resourceType: RESOURCES[resource],
    resourceName: name,
    resourcePatternType: PATTERNS[pattern],
    operation: OPERATIONS[operation],
    permissionType: AclPermissionTypes.ALLOW,
  };
}

/**
 * Existing rights are kept.
 *
 * @throws An error if the brokers have no authorizer, or the user may not change access control
 *   lists.
 */
export async function grantKafkaRights(
  options: KafkaClientOptions,
  rights: readonly KafkaRight[],
): Promise<void> {
  await withAdmin(openKafka(options), (admin) => admin.createAcls({ acl: rights.map(toAcl) }));
}
