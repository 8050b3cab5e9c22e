import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, runInForeground, runScript } from "./check/run-command.ts";
import { readSteps, toScript } from "./cluster/steps.ts";

// Runs "Try it in a cluster" of deploy/README.md as it stands, on the cluster that KUBECONFIG names
// and that has the images; before it removes everything, it publishes to all platforms and
// restarts, kills, upgrades and rolls back the services under load:
//   npm run cluster [overlay] [-- --rate N] [--drain NODE]
// It needs kubectl, curl and jq. The overlay is deploy/k8s/overlays/local, or a folder that adds to
// it; the rate is in requests per second. Only a node without stores and without the gateway can be
// drained, because there is one pod of each.
const LOCAL = "deploy/k8s/overlays/local";

/** The port of accounts and the operator's key, with which the drill makes a workspace. */
const DRILL = `
kubectl -n postrider port-forward service/accounts 8081 &
export IDENTITY_KEYS=$(kubectl -n postrider exec deployment/ops -- node -p process.env.IDENTITY_KEYS)
node scripts/cluster/drill.ts`;

await runScript("cluster", async () => {
  const page = readFileSync(join(root, "deploy/README.md"), "utf8");
  const steps = readSteps(page, "## Try it in a cluster");
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rate: { type: "string", default: "10" }, drain: { type: "string" } },
  });
  const [overlay = LOCAL] = positionals;
  const options = Object.entries(values).map(([name, text]) => {
    if (!/^[a-z0-9.-]+$/.test(text)) throw new Error(`--${name} takes no "${text}"`);
    return ` --${name}=${text}`;
  });
  const drill = `${DRILL.trimStart()}${options.join("")}\n`;
  const all = [...steps.slice(0, -1), drill, ...steps.slice(-1)];
  const script = toScript(all.map((step) => step.replaceAll(LOCAL, overlay)));
  return await runInForeground("bash", ["-c", script], {});
});
