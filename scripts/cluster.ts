import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, runInForeground, runScript } from "./check/run-command.ts";
import { readSteps } from "./cluster/steps.ts";

// Runs "Try it in a cluster" of deploy/README.md as it stands, on the cluster that KUBECONFIG names
// and that has the images; before it removes everything, it publishes to all platforms and
// restarts, kills, upgrades and rolls back the services under load:
//   npm run cluster [overlay]
// It needs kubectl, curl and jq. The overlay is deploy/k8s/overlays/local, or a folder that adds to
// it.
const LOCAL = "deploy/k8s/overlays/local";

/** The port of accounts and the operator's key, with which the drill makes a workspace. */
const DRILL = `
kubectl -n postrider port-forward service/accounts 8081 &
export IDENTITY_KEYS=$(kubectl -n postrider exec deployment/ops -- node -p process.env.IDENTITY_KEYS)
node scripts/cluster/drill.ts
`;

function toScript(steps: readonly string[]): string {
  const timed = steps.map((step, index) => `${step}say "step ${index + 1} of ${steps.length}"\n`);
  return [
    "set -euo pipefail",
    'say() { echo "[$SECONDS s] $1"; }',
    // Forwarding prints a line for each connection.
    'kubectl() { if [[ "$*" = *port-forward* ]]; then command kubectl "$@" >/dev/null; else command kubectl "$@"; fi; }',
    "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
    ...timed,
  ].join("\n");
}

await runScript("cluster", async () => {
  const page = readFileSync(join(root, "deploy/README.md"), "utf8");
  const steps = readSteps(page, "## Try it in a cluster");
  const [overlay = LOCAL] = process.argv.slice(2);
  const all = [...steps.slice(0, -1), DRILL.trimStart(), ...steps.slice(-1)];
  const script = toScript(all.map((step) => step.replaceAll(LOCAL, overlay)));
  return await runInForeground("bash", ["-c", script], {});
});
