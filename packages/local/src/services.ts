/** The five services, in the order in which they are listed. */
export const serviceNames = ["gateway", "accounts", "posts", "media", "delivery"] as const;

/** Name of a service: also of its folder, its bus consumer group and its hold file. */
export type ServiceName = (typeof serviceNames)[number];

/** Those with a schema and a database role of their own. */
export const databaseServices = [
  "accounts",
  "posts",
  "media",
  "delivery",
] as const satisfies readonly ServiceName[];

/** Name of a service with a schema of its own. */
export type DatabaseService = (typeof databaseServices)[number];

/** Makes one value per service. */
export function perService<T>(make: (service: ServiceName) => T): Readonly<Record<ServiceName, T>> {
  return {
    gateway: make("gateway"),
    accounts: make("accounts"),
    posts: make("posts"),
    media: make("media"),
    delivery: make("delivery"),
  };
}
