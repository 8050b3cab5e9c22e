import { basename } from "node:path";
import { checkPeers } from "./manifests/check-network.ts";
import { checkOverlay } from "./manifests/check-overlay.ts";
import { listOverlays, renderOverlay } from "./manifests/tools.ts";

// Checks the Kubernetes overlays of this repository, or those in the folders that are given as
// arguments:
//   npm run manifests ~/postrider/overlays/mine
const folders = process.argv.slice(2);
try {
  const faults = [
    ...checkPeers(),
    ...(folders.length > 0 ? folders : listOverlays()).flatMap((folder) => {
      const overlay = basename(folder);
      return checkOverlay(overlay, renderOverlay(folder)).map((fault) => `${overlay}: ${fault}`);
    }),
  ];
  process.stderr.write(faults.map((fault) => `${fault}\n`).join(""));
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
