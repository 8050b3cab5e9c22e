export const serviceNames = ["gateway", "accounts", "posts", "media", "delivery"] as const;

/**
 * Name of a service, which is also the name of its folder, its consumer group and its hold file.
 */
export type ServiceName = (typeof serviceNames)[number];

export const databaseServices = [
  "accounts",
  "posts",
  "media",
  "delivery",
] as const satisfies readonly ServiceName[];

export type DatabaseService = (typeof databaseServices)[number];

export function perService<T>(make: (service: ServiceName) => T): Readonly<Record<ServiceName, T>> {
  const entries = serviceNames.map((service) => [service, make(service)]);
  return Object.fromEntries(entries) as Record<ServiceName, T>;
}
