import { parseAllDocuments } from "yaml";
import { ROLES } from "../../services/delivery/src/config.ts";
import { hasSetting } from "./addresses.ts";
import { checkEnvironment } from "./check-environment.ts";
import { checkInspector } from "./check-inspector.ts";
import { checkNetwork } from "./check-network.ts";
import { checkPods } from "./check-pods.ts";
import { checkReferences } from "./check-references.ts";
import { checkSchema } from "./check-schema.ts";
import { readEnvironment } from "./environment.ts";
import {
  containersOf,
  type Manifest,
  nameOf,
  ofKind,
  serviceOf,
  type Workload,
  workloadsOf,
} from "./manifest.ts";
import { Network } from "./network-policy.ts";

interface IssuerSpec {
  readonly acme?: { readonly solvers?: readonly { readonly http01?: object }[] };
}

/**
 * How cert-manager makes the pods that answer the challenges of an authority. They run in the
 * namespace of the certificate.
 */
const SOLVER: Workload = {
  where: "Pod of cert-manager",
  kind: "Pod",
  name: "cm-acme-http-solver",
  objectLabels: {},
  labels: { "acme.cert-manager.io/http01-solver": "true" },
  selector: {},
  replicas: 1,
  pod: { containers: [{ name: "acmesolver", image: "", ports: [] }] },
};
const SOLVER_PORT = 8089;
const CLIENT_PORT = 8080;
const STRANGER = { namespace: "any-other" };

/**
 * Challenges come over the proxies that connect to the gateway: the pods that answer them have to
 * be open to those proxies, and to no other client.
 */
function checkChallenges(manifests: readonly Manifest[]): readonly string[] {
  const isChallenged = ofKind<IssuerSpec>(manifests, "Issuer").some(({ spec }) =>
    spec?.acme?.solvers?.some(({ http01 }) => http01 !== undefined),
  );
  const gateway = workloadsOf(manifests).find(({ name }) => name === "gateway");
  if (!isChallenged || gateway === undefined) return [];
  const network = new Network(manifests);
  const isPublic = network.allows("Ingress", SOLVER, STRANGER, { port: SOLVER_PORT });
  const asking = network.clients(SOLVER, SOLVER_PORT);
  const proxies = network.clients(gateway, CLIENT_PORT);
  return [
    ...(isPublic && asking.length === 0 ? [`every client can connect to port ${SOLVER_PORT}`] : []),
    ...(isPublic || asking.length > 0 ? [] : [`no proxy can connect to port ${SOLVER_PORT}`]),
    ...proxies
      .filter((peer) => asking.length > 0 && !asking.includes(peer))
      .map((peer) => `${peer} connects to the gateway, but not to port ${SOLVER_PORT}`),
    // A gateway that is open to every client does not say where the proxies are.
    ...asking
      .filter((peer) => proxies.length > 0 && !proxies.includes(peer))
      .map((peer) => `${peer} connects to port ${SOLVER_PORT}, but not to the gateway`),
  ].map((fault) => `${SOLVER.where}: ${fault}`);
}

/** kustomize ends generated names with a hash of the content: a change restarts the pods. */
const HASHED = /-[2456789bcdfghkmt]{10}$/;

/**
 * Finds changes that would not restart pods; for production also committed Secrets and trial
 * settings.
 */
function checkConfiguration(overlay: string, manifests: readonly Manifest[]): readonly string[] {
  const workloads = workloadsOf(manifests).map((workload) => ({
    where: workload.where,
    isJob: workload.kind === "Job",
    sources: sourcesOf(workload),
  }));
  const readersOf = (source: string) => workloads.filter(({ sources }) => sources.includes(source));
  const missed = ["ConfigMap", "Secret"]
    .flatMap((kind) => ofKind(manifests, kind))
    .filter(({ kind, metadata }) => {
      if (HASHED.test(metadata.name)) return false;
      const readers = readersOf(`${kind}/${metadata.name}`);
      const jobs = readers.filter(({ isJob }) => isJob);
      // A Kubernetes Job has to read ConfigMaps and Secrets whose names have no hash. If other pods
      // read the same Secret, the operator must restart these pods after a change of the Secret.
      return jobs.length === 0 || (kind === "ConfigMap" && jobs.length < readers.length);
    })
    .map((source) => `${nameOf(source)} has no hash in its name: a change restarts no pod`);
  const immutable = workloads
    .filter(({ isJob }) => isJob)
    .flatMap(({ where, sources }) =>
      sources
        .filter((source) => HASHED.test(source))
        .map((source) => `${where} reads ${source}: a Job cannot be changed when the hash does`),
    );
  return [...missed, ...immutable, ...(overlay === "local" ? [] : productionFaults(manifests))];
}

/** As `kind/name`. */
function sourcesOf(workload: Workload): readonly string[] {
  const containers = containersOf(workload);
  const found = [
    ...containers
      .flatMap(({ envFrom = [] }) => envFrom)
      .map((one) => [one.configMapRef, one.secretRef]),
    ...containers
      .flatMap(({ env = [] }) => env)
      .map(({ valueFrom }) => [valueFrom?.configMapKeyRef, valueFrom?.secretKeyRef]),
    ...(workload.pod.volumes ?? []).map(({ configMap, secret }) => [
      configMap,
      secret && { name: secret.secretName },
    ]),
  ];
  return found.flatMap(([configMap, secret]) => [
    ...(configMap === undefined ? [] : [`ConfigMap/${configMap.name}`]),
    ...(secret === undefined ? [] : [`Secret/${secret.name}`]),
  ]);
}

function productionFaults(manifests: readonly Manifest[]): readonly string[] {
  const services = workloadsOf(manifests).filter((one) => serviceOf(one) !== undefined);
  return [
    ...ofKind(manifests, "Secret").map((secret) => `${nameOf(secret)} is in the repository`),
    ...services
      .filter((service) =>
        containersOf(service).some((container) => {
          const { variables } = readEnvironment(container, manifests);
          return variables.get("POSTRIDER_ENV")?.value !== "production";
        }),
      )
      .map(({ where }) => `${where}: POSTRIDER_ENV is not production`),
    ...services
      .filter((service) => hasSetting(service, "OUTBOUND_ALLOW", manifests))
      .map(({ where }) => `${where}: OUTBOUND_ALLOW opens private addresses`),
  ];
}

/** By the variable that names it. */
const LOGINS: Readonly<Record<string, string>> = {
  DATABASE_URL: "database role",
  KAFKA_USERNAME: "Kafka user",
  KAFKA_PASSWORD: "Kafka user",
};

interface Login {
  readonly where: string;
  readonly kind: string;
  readonly secret: string;
  /** A service, or its processes that only send webhooks. Undefined for Kubernetes Jobs. */
  readonly owner: string | undefined;
}

function listLogins(manifests: readonly Manifest[]): readonly Login[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap(({ name, env = [] }) => {
      const service = serviceOf(workload);
      const isForWebhooks = env.some(
        (entry) => entry.name === "ROLE" && entry.value === "webhooks",
      );
      const owner = isForWebhooks ? `${service} for webhooks` : service;
      const secrets = env.flatMap((entry) => {
        const kind = LOGINS[entry.name];
        const secret = entry.valueFrom?.secretKeyRef?.name ?? "";
        return kind === undefined ? [] : [[secret, kind] as const];
      });
      return [...new Map(secrets)].map(([secret, kind]) => ({
        where: `${workload.where} ${name}`,
        kind,
        secret,
        owner,
      }));
    }),
  );
}

/** Postgres and Kafka grant rights to users: who shares one could do what only the other may. */
function checkLogins(manifests: readonly Manifest[]): readonly string[] {
  const logins = listLogins(manifests);
  return logins
    .filter(({ owner }) => owner !== undefined)
    .flatMap(({ where, kind, secret, owner }) => {
      const other = logins.find((one) => one.secret === secret && one.owner !== owner);
      return other === undefined ? [] : [`${where}: shares its ${kind} with ${other.where}`];
    });
}

/** A process with `ROLE=publishing` sends no webhooks, one with `ROLE=webhooks` no posts. */
function checkRoles(manifests: readonly Manifest[]): readonly string[] {
  const roles = workloadsOf(manifests)
    .filter((workload) => serviceOf(workload) === "delivery")
    .flatMap(containersOf)
    .map(
      (container) => readEnvironment(container, manifests).variables.get("ROLE")?.value ?? "all",
    );
  return ROLES.filter((role) => role !== "all")
    .filter((role) => !roles.includes(role) && !roles.includes("all"))
    .map((role) => `no process of delivery has ROLE=${role} or ROLE=all`);
}

/** The overlay `local` is for trials; every other one is for production. */
export function checkOverlay(overlay: string, rendered: string): readonly string[] {
  return checkManifests(overlay, parseManifests(rendered));
}

export function checkManifests(overlay: string, manifests: readonly Manifest[]): readonly string[] {
  const malformed = checkSchema(manifests);
  // All other checks rely on the fields of the Kubernetes objects, so they run only if all objects
  // are valid.
  if (malformed.length > 0) return malformed;
  return [
    ...checkReferences(overlay, manifests),
    ...checkPods(overlay, manifests),
    ...checkEnvironment(manifests),
    ...checkConfiguration(overlay, manifests),
    ...checkRoles(manifests),
    ...checkLogins(manifests),
    ...checkNetwork(manifests),
    ...checkChallenges(manifests),
    ...checkInspector(manifests),
  ];
}

export function parseManifests(rendered: string): readonly Manifest[] {
  return parseAllDocuments(rendered).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}
