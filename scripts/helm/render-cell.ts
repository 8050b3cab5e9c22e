import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { root } from "../check/run-command.ts";
import { renderOverlay } from "../manifests/tools.ts";

/** The overlay `production` of an installation that is a cell: docs/scale.md. */
export function renderCell(): string {
  const folder = mkdtempSync(join(tmpdir(), "postrider-cell-"));
  const to = (path: string): string => relative(folder, join(root, "deploy/k8s", path));
  try {
    const kustomization = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      namespace: "postrider",
      resources: [to("overlays/production")],
      components: [to("components/cell")],
    };
    writeFileSync(join(folder, "kustomization.yaml"), stringify(kustomization));
    return renderOverlay(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
