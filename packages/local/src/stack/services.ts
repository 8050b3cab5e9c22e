/** Names of the five services, in the order in which they are listed for users. */
export const serviceNames = ["gateway", "accounts", "posts", "media", "delivery"] as const;

/** Name of a service, which is also the name of its folder, its consumer group and its hold file. */
export type ServiceName = (typeof serviceNames)[number];

/** The services that have their own schema and database role. */
export const databaseServices = [
  "accounts",
  "posts",
  "media",
  "delivery",
] as const satisfies readonly ServiceName[];

/** Name of a service that has its own schema. */
export type DatabaseService = (typeof databaseServices)[number];

/** Calls a function for each service and returns the results by service name. */
export function perService<T>(make: (service: ServiceName) => T): Readonly<Record<ServiceName, T>> {
  return {
    gateway: make("gateway"),
    accounts: make("accounts"),
    posts: make("posts"),
    media: make("media"),
    delivery: make("delivery"),
  };
}
