import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../check/run-command.ts";
import { parseManifests } from "../manifests/check-overlay.ts";
import { portsOf, serviceOf, type Workload, workloadsOf } from "../manifests/manifest.ts";
import { renderOverlay } from "../manifests/tools.ts";
import { checkConfiguration, discoverTargets, type Targets } from "./promtool.ts";

const FOLDER = join(root, "deploy/observability");
const NAMESPACE = "postrider";

interface Job {
  readonly job_name: string;
  readonly kubernetes_sd_configs: readonly object[];
}

const config = parse(readFileSync(join(FOLDER, "prometheus.yaml"), "utf8")) as {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly [Job];
};
let workloads: readonly Workload[];

// The first run on a machine downloads kubectl, or compiles kustomize.
beforeAll(() => {
  const text = renderOverlay(join(root, "deploy/k8s/overlays/production"));
  workloads = workloadsOf(parseManifests(text));
}, 600_000);

const addressOf = (workload: Workload): string => `10.1.0.${workloads.indexOf(workload) + 1}`;

/** What Prometheus knows of a pod from Kubernetes: one target per port, or one without any port. */
function targetsOf(workload: Workload, pod: string, phase: string): Targets[] {
  const labels = Object.entries(workload.labels).map(([name, value]) => [
    `__meta_kubernetes_pod_label_${name.replaceAll(/\W/g, "_")}`,
    value,
  ]);
  const known = {
    ...(Object.fromEntries(labels) as Record<string, string>),
    __meta_kubernetes_namespace: NAMESPACE,
    __meta_kubernetes_pod_name: pod,
    __meta_kubernetes_pod_phase: phase,
  };
  const ports = portsOf(workload);
  if (ports.length === 0) return [{ targets: [addressOf(workload)], labels: known }];
  return ports.map(({ name = "", containerPort }) => ({
    targets: [`${addressOf(workload)}:${containerPort}`],
    labels: { ...known, __meta_kubernetes_pod_container_port_name: name },
  }));
}

/** Debian's Prometheus, whose promtool this is, is built without Kubernetes. */
function withTargets(targets: readonly Targets[]) {
  const [{ kubernetes_sd_configs: _discovery, ...job }] = config.scrape_configs;
  const rules = config.rule_files.map((name) => join(FOLDER, name));
  return { ...config, rule_files: rules, scrape_configs: [{ ...job, static_configs: targets }] };
}

test("Prometheus accepts prometheus.yaml with the rules that it names, and asks Kubernetes for the pods of our namespace alone", () => {
  expect(config.scrape_configs).toHaveLength(1);
  expect(config.scrape_configs[0].kubernetes_sd_configs).toEqual([
    { role: "pod", namespaces: { names: [NAMESPACE] } },
  ]);
  expect(checkConfiguration(withTargets([]))).toBe("");
});

test("of the pods in Kubernetes Prometheus scrapes the metrics port of each that runs a service, with the labels by which the rules compare and name processes", () => {
  const services = workloads.filter((one) => serviceOf(one) !== undefined);
  const scraped = services.filter(({ name }) => name !== "inspector");
  const evicted = workloads.filter(({ name }) => name === "posts");
  const targets = [
    ...workloads.flatMap((one) =>
      targetsOf(one, `${one.name}-1`, one.kind === "Job" ? "Succeeded" : "Running"),
    ),
    ...evicted.flatMap((one) => targetsOf(one, `${one.name}-2`, "Failed")),
  ];

  const found = discoverTargets(withTargets(targets), "postrider");

  expect(scraped.length).toBeGreaterThan(6);
  expect(found).toHaveLength(scraped.length);
  for (const workload of scraped) {
    const port = portsOf(workload).find(({ name }) => name === "metrics")?.containerPort;
    const pod = `${workload.name}-1`;
    const address = `${addressOf(workload)}:${port}`;
    expect(found).toContainEqual({
      address,
      job: "postrider",
      instance: pod,
      namespace: NAMESPACE,
      pod,
    });
  }
});
