import type { ServiceName } from "../services/settings.ts";
import { containersOf, type Manifest, serviceOf, workloadsOf } from "./manifest.ts";

const VARIABLES = ["KAFKA_USERNAME", "KAFKA_PASSWORD"];

interface Login {
  readonly where: string;
  readonly secret: string;
  /** The service whose processes run in the container; undefined for Kubernetes Jobs. */
  readonly service: ServiceName | undefined;
}

/** Lists the Kubernetes Secrets from which containers read a Kafka user or password. */
function listLogins(manifests: readonly Manifest[]): readonly Login[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap(({ name, env = [] }) => {
      const secrets = env
        .filter((entry) => VARIABLES.includes(entry.name))
        .map(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? "");
      return [...new Set(secrets)].map((secret) => ({
        where: `${workload.where} ${name}`,
        secret,
        service: serviceOf(workload),
      }));
    }),
  );
}

/**
 * Finds services that share a Kafka user with another service or with a Kubernetes Job. Kafka grants rights to users, so such a
 * service could write to the topics of the other service.
 */
export function checkKafkaUsers(manifests: readonly Manifest[]): readonly string[] {
  const logins = listLogins(manifests);
  return logins
    .filter(({ service }) => service !== undefined)
    .flatMap(({ where, secret, service }) => {
      const other = logins.find((one) => one.secret === secret && one.service !== service);
      return other === undefined ? [] : [`${where}: shares its Kafka user with ${other.where}`];
    });
}
