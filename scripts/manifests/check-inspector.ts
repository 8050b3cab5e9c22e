import { containersOf, type Manifest, workloadsOf } from "./manifest.ts";
import { Network } from "./network-policy.ts";

/** The workload that reads uploaded files, which may be hostile. */
export const INSPECTOR = "inspector";

const NAMESPACES = ["kube-system", "monitoring", "any-other"];
const DNS_PORT = 53;

/** What a hostile file could reach in it, besides connections (`checkNetwork`). */
export function checkInspector(manifests: readonly Manifest[]): readonly string[] {
  const inspector = workloadsOf(manifests).find(({ name }) => name === INSPECTOR);
  if (inspector === undefined) return [`there is no Deployment ${INSPECTOR}`];
  const network = new Network(manifests);
  const ways = NAMESPACES.flatMap((namespace) =>
    (["UDP", "TCP"] as const).flatMap((protocol) =>
      [DNS_PORT, 443, 4318]
        .filter((port) => network.allows("Egress", inspector, { namespace }, { port, protocol }))
        .map((port) => `may connect to ${namespace} on ${protocol} port ${port}`),
    ),
  );
  return [
    ...ways,
    ...containersOf(inspector)
      .filter(({ env = [], envFrom = [] }) => env.length + envFrom.length > 0)
      .map(({ name }) => `${name} has environment variables, which a hostile file could read`),
    ...(inspector.pod.volumes ?? [])
      .filter(({ emptyDir }) => emptyDir === undefined)
      .map(({ name }) => `the volume ${name} has content that a hostile file could read`),
  ].map((fault) => `${inspector.where}: ${fault}`);
}
