import { basename } from "node:path";
import { checkPeers } from "./manifests/check-network.ts";
import { checkManifests } from "./manifests/check-overlay.ts";
import { listOverlays, renderOverlay } from "./manifests/render.ts";

// Renders overlays and holds them against Kubernetes' schema and our code: all of ours, or those whose folders are named:
//   node scripts/manifests.ts ~/postrider/overlays/mine
const named = process.argv.slice(2);
try {
  const faults = [...checkPeers()];
  for (const folder of named.length > 0 ? named : listOverlays()) {
    const overlay = basename(folder);
    const manifests = await renderOverlay(folder);
    faults.push(...checkManifests(overlay, manifests).map((fault) => `${overlay}: ${fault}`));
  }
  process.stderr.write(faults.map((fault) => `${fault}\n`).join(""));
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
