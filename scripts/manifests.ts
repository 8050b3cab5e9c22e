import { basename } from "node:path";
import { checkManifests } from "./manifests/check-overlay.ts";
import { listOverlays, renderOverlay } from "./manifests/render.ts";

// Renders overlays and holds them against Kubernetes' schema and our code: all of ours, or those whose folders are named:
//   node scripts/manifests.ts ~/postrider/overlays/mine
const named = process.argv.slice(2);
try {
  for (const folder of named.length > 0 ? named : listOverlays()) {
    const overlay = basename(folder);
    for (const fault of checkManifests(overlay, await renderOverlay(folder))) {
      process.stderr.write(`${overlay}: ${fault}\n`);
      process.exitCode = 1;
    }
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
