import { type Manifest, ofKind, type Workload, workloadsOf } from "./manifest.ts";
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
export function checkChallenges(manifests: readonly Manifest[]): readonly string[] {
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
