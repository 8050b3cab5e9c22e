import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { root } from "../check/run-command.ts";
import { parseManifests } from "../manifests/check-overlay.ts";
import type { Manifest } from "../manifests/manifest.ts";
import { listOverlays, renderOverlay } from "../manifests/tools.ts";
import { kubectlFaults, inputFaults, objectFaults } from "./kubectl-faults.ts";
import { readCommands, readSteps } from "./steps.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const DEPLOY = read("deploy/README.md");
const TRIAL = "## Try it in a cluster";
const PRODUCTION = "## Production in a cluster, step by step";

const overlays = new Map<string, readonly Manifest[]>();

// The first run on a machine without kubectl compiles kustomize.
beforeAll(() => {
  for (const folder of listOverlays())
    overlays.set(basename(folder), parseManifests(renderOverlay(folder)));
}, 600_000);

test.each([
  [TRIAL, "local"],
  [PRODUCTION, "production"],
])(
  "the commands of deploy/README.md under `%s` name objects and labels of the overlay `%s`, and use nothing that no step before has made",
  (heading, overlay) => {
    const steps = readSteps(DEPLOY, heading);
    expect(steps.length).toBeGreaterThan(3);
    expect(objectFaults(steps.join("\n"), overlays.get(overlay) ?? [])).toEqual([]);
    expect(inputFaults(steps)).toEqual([]);
  },
);

const PAGES = globSync(["*.md", "{deploy,docs}/**/*.md"], { cwd: root });

/** In blocks and in sentences. */
function kubectlCommands(page: string): string {
  const spans = page.matchAll(/`(kubectl [^`]+)`/g);
  return [
    ...readCommands(page),
    ...[...spans].map(([, text = ""]) => text.replace("\n", " ")),
  ].join("\n");
}

test("the commands of kubectl in all documents name objects and labels of the overlays and of the component for KEDA", () => {
  const scaled = parseManifests(read("deploy/k8s/components/scale-on-tasks/scaled-object.yaml"));
  const manifests = [...[...overlays.values()].flat(), ...scaled];
  const faults = PAGES.flatMap((page) =>
    objectFaults(kubectlCommands(read(page)), manifests).map((fault) => `${page}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test("kubectl knows the commands of all documents, with their flags", () => {
  const faults = PAGES.flatMap((page) =>
    kubectlFaults(kubectlCommands(read(page))).map((fault) => `${page}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test.each([
  ["kubectl -n postrider rollout state deployment posts", "no command rollout state"],
  ["kubectl remove -k deploy/k8s/overlays/mine", "no command remove"],
  ["kubectl -n postrider scale deployment ops --replica=1", "no flag --replica"],
  ["kubectl -n postrider logs -z", "no flag -z"],
])("the check of documented commands reports what kubectl does not know in `%s`", (line, fault) => {
  expect(kubectlFaults(line).join()).toContain(fault);
});

test.each([
  [
    "kubectl -n postrider get secret operator-identities -o yaml",
    "there is no Secret operator-identities",
  ],
  ["kubectl -n postrider port-forward service/posts-api 8082 &", "there is no Service posts-api"],
  ["kubectl -n postrider rollout undo deployment posts postz", "there is no Deployment postz"],
  ["kubectl -n postrider delete job -l app.kubernetes.io/component=migrations", "no Job has the"],
  ["kubectl -n postrider get pods -l app.kubernetes.io/component=job", "no Pod has the label"],
])("the check of documented commands reports what is wrong in `%s`", (line, fault) => {
  expect(objectFaults(line, overlays.get("production") ?? []).join()).toContain(fault);
});

test.each([
  ["kubectl create -f deploy/k8s/base/namespace.yaml", "the namespace does not exist yet"],
  ["kubectl apply -f keys.yaml", "keys.yaml does not exist yet"],
  ['curl -H "Authorization: Bearer $KEY"', "$KEY has no value yet"],
  ["postrider pauses", "the function postrider is not defined yet"],
])("the check of documented steps reports what `%s` uses too early", (line, fault) => {
  expect(inputFaults([line]).join()).toContain(fault);
});
