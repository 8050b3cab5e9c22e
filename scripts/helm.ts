import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./check/run-command.ts";
import { renderCell, toChart } from "./helm/chart.ts";
import { renderOverlay } from "./manifests/tools.ts";

// Writes a Helm chart of the overlay `production` into a folder:
//   npm run helm chart && helm package chart && helm push postrider-*.tgz oci://…
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("name the folder that the chart is written to\n");
  process.exitCode = 2;
} else {
  mkdirSync(join(folder, "templates"), { recursive: true });
  const production = renderOverlay(join(root, "deploy/k8s/overlays/production"));
  const files = toChart(production, renderCell());
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
}
