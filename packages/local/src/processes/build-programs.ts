import { join } from "node:path";
import { buildDashboard } from "#src/processes/build-dashboard.ts";
import { bundle } from "#src/processes/bundle.ts";
import { root } from "#src/stack/layout.ts";
import { serviceNames } from "#src/stack/services.ts";

// Builds what a stack starts. `npm test` runs this program once, while its other checks run: the
// first test files start their stacks at the same moment, and each would build everything.
const folders = [...serviceNames.map((name) => `services/${name}`), "packages/simulator"];
await Promise.all([buildDashboard(root), ...folders.map((folder) => bundle(join(root, folder)))]);
