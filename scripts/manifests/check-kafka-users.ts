import { isService } from "../services/settings.ts";
import { containersOf, type Manifest, ownImage, workloadsOf } from "./manifest.ts";

const VARIABLES = ["KAFKA_USERNAME", "KAFKA_PASSWORD"];

interface Login {
  readonly where: string;
  readonly secret: string;
}

/** Lists the Kubernetes Secrets from which containers read a Kafka user or password. */
function listLogins(manifests: readonly Manifest[]): readonly (Login & { isService: boolean })[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap(({ name, image, env = [] }) => {
      const secrets = env
        .filter((entry) => VARIABLES.includes(entry.name))
        .map(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? "");
      return [...new Set(secrets)].map((secret) => ({
        where: `${workload.where} ${name}`,
        secret,
        isService: isService(ownImage(image) ?? ""),
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
    .filter((login) => login.isService)
    .flatMap(({ where, secret }) => {
      const other = logins.find((one) => one.secret === secret && one.where !== where);
      return other === undefined ? [] : [`${where}: shares its Kafka user with ${other.where}`];
    });
}
