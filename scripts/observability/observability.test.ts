import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { PLATFORM_IDS } from "../../packages/platforms/src/platform-id.ts";
import {
  listMetrics,
  renderMetrics,
  type RegisteredMetric,
} from "../../packages/shared/src/telemetry/metrics.ts";
import { parseQuery, type Query, queryFaults } from "./query-faults.ts";
import { parseRules, RULE_FILES, toPrometheusRule, withRunbooks } from "./rules.ts";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
}

const SERVICES = ["gateway", "accounts", "posts", "media", "delivery"];
const RUNBOOK = /^docs\/operations\.md#(?<anchor>[a-z-]+)$/;

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), "utf8");

const dashboard = JSON.parse(read("deploy/observability/dashboard.json")) as Dashboard;
const allRules = RULE_FILES.flatMap(
  (name) => parseRules(read(`deploy/observability/${name}`)).groups,
).flatMap((group) => group.rules);
const rules = allRules.filter((rule) => rule.alert !== undefined);
/** Their results are metrics with the label of their objective, which other rules query. */
const recorded = new Set(allRules.flatMap(({ record }) => record ?? []));
const panels = dashboard.panels.filter(({ type }) => type !== "row");

function shownBy(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(({ groups }) => groups?.label ?? "");
}

const panelQueries = panels.flatMap(({ title, targets = [] }): Query[] =>
  targets.map(({ expr, legendFormat }) => ({
    where: title,
    text: expr,
    shown: shownBy(legendFormat, /\{\{(?<label>\w+)\}\}/g),
  })),
);
const ruleQueries = allRules.map(({ alert, record, expr, annotations }): Query => ({
  where: alert ?? record ?? "",
  text: expr,
  shown: shownBy(annotations?.summary ?? "", /\$labels\.(?<label>\w+)/g),
}));

let registered: readonly RegisteredMetric[];

beforeAll(async () => {
  for (const service of SERVICES)
    await import(fileURLToPath(new URL(`services/${service}/src/app.ts`, root)));
  const results = [...recorded].map((name) => ({ name, type: "gauge", labelNames: ["slo"] }));
  registered = [...listMetrics(), ...results];
}, 60_000);

test("every panel of the Grafana dashboard queries metrics and labels that the code registers", () => {
  expect(panelQueries.length).toBeGreaterThan(40);
  expect(panelQueries.flatMap((query) => queryFaults(query, registered))).toEqual([]);
});

test("every alert rule queries metrics and labels that the code registers", () => {
  expect(ruleQueries.length).toBeGreaterThan(20);
  expect(ruleQueries.flatMap((query) => queryFaults(query, registered))).toEqual([]);
});

/**
 * Returns the lines of the metric series that a process exports with the value 0 when it starts.
 */
async function seriesAtStart(): Promise<readonly string[]> {
  const { body } = await renderMetrics();
  return body.split("\n").filter((line) => line.endsWith(" 0"));
}

test("metric series whose increase raises an alert are exported as 0 from the start, for every platform if they have a platform label", async () => {
  const initial = await seriesAtStart();
  const awaited = ruleQueries
    .flatMap(({ text }) => parseQuery(text).increases)
    .filter(({ equals }) => Object.keys(equals).length > 0)
    .flatMap(({ metric, equals }) => {
      const hasPlatform = registered.some(
        ({ name, labelNames }) => name === metric && labelNames.includes("platform"),
      );
      if (!hasPlatform) return [{ metric, labels: equals }];
      return PLATFORM_IDS.map((platform) => ({ metric, labels: { ...equals, platform } }));
    });
  const missing = awaited.filter(
    ({ metric, labels }) =>
      !initial.some(
        (line) =>
          line.startsWith(`${metric}{`) &&
          Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
      ),
  );

  expect(awaited).toHaveLength(3 * PLATFORM_IDS.length + 3);
  expect(missing).toEqual([]);
});

test("every Postrider metric is on the Grafana dashboard or in an alert rule", () => {
  const asked = new Set(
    [...panelQueries, ...ruleQueries]
      .flatMap(({ text }) => parseQuery(text).selectors)
      .map(({ metric }) => metric.replace(/_(?:bucket|sum|count)$/, "")),
  );
  const ours = registered
    .map(({ name }) => name)
    .filter((name) => !/^(?:process|nodejs)_/.test(name) && !recorded.has(name));

  // The metrics that are neither on the dashboard nor in an alert rule: they matter only during a
  // rotation of sealing keys, which has its own runbook.
  expect(ours.filter((name) => !asked.has(name)).toSorted()).toEqual([
    "credentials_resealed_total",
    "credentials_sealed_with_older_keys",
  ]);
});

describe("queryFaults", () => {
  test.each([
    ["posts_published_per_second", "x: no code registers posts_published_per_second"],
    ["gateway_request_duration_seconds", "x: no code registers gateway_request_duration_seconds"],
    ["outbox_rows_bucket", "x: no code registers outbox_rows_bucket"],
    ['outbox_rows{platform="x"}', "x: outbox_rows has no label platform"],
    ["sum by (le) (outbox_rows)", "x: none of its metrics has the label le"],
  ])("the query check reports what is wrong in the PromQL query %s", (text, fault) => {
    expect(queryFaults({ where: "x", text, shown: [] }, registered)).toEqual([fault]);
  });

  test("the query check reports a label that a panel or alert rule uses and no metric of its PromQL query has", () => {
    expect(queryFaults({ where: "x", text: "outbox_rows", shown: ["group"] }, registered)).toEqual([
      "x: none of its metrics has the label group",
    ]);
  });

  test("the query check rejects a query that is not valid PromQL", () => {
    expect(() => parseQuery("sum by (topic (outbox_rows)")).toThrow("not valid PromQL");
  });
});

test("Grafana can import the dashboard: ids are unique, panels fit the grid, and the data source is a variable", () => {
  const ids = dashboard.panels.map(({ id }) => id);

  expect(new Set(ids).size).toBe(ids.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  expect(dashboard.templating.list.map(({ name }) => name)).toEqual(["datasource"]);
  expect(dashboard).toMatchObject({ uid: "postrider", schemaVersion: expect.any(Number) });
});

test("every alert rule has a severity, a summary, and a section of the operations guide", () => {
  const names = rules.map(({ alert = "" }) => alert);
  const page = read("docs/operations.md");

  expect(new Set(names).size).toBe(names.length);
  for (const { alert, labels, annotations, expr, for: since } of rules) {
    const severities = alert === "PostriderWatchdog" ? ["none"] : ["critical", "warning"];
    expect(severities, alert).toContain(labels?.["severity"]);
    expect(annotations?.summary, alert).toMatch(/^\S.{10,}\.$/);
    // An alert rule over a time range needs no `for`.
    expect(since !== undefined || /increase\(|changes\(|offset |^vector/.test(expr), alert).toBe(
      true,
    );
    const { anchor } = RUNBOOK.exec(annotations?.runbook_url ?? "")?.groups ?? {};
    expect(anchorsOf(page), alert).toContain(anchor);
  }
});

/** Lists the anchors of a Markdown page: those of its headings, and explicit ones. */
function anchorsOf(page: string): readonly string[] {
  const headings = [...page.matchAll(/^#+ (?<heading>.+)$/gm)].map(({ groups }) =>
    (groups?.heading ?? "")
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(/\s+/g, "-"),
  );
  const written = [...page.matchAll(/<a (?:id|name)="(?<anchor>[^"]+)"/g)].map(
    ({ groups }) => groups?.anchor ?? "",
  );
  return [...headings, ...written];
}

test("deploy/observability has every file that its README names", () => {
  for (const name of ["alerts.yaml", "dashboard.json", "prometheus.yaml", "slo.yaml", "README.md"])
    expect(existsSync(new URL(`deploy/observability/${name}`, root)), name).toBe(true);
});

test("fewer than a quarter of the alerts wake a person", () => {
  const critical = rules.filter(({ labels }) => labels?.["severity"] === "critical");
  expect(critical.length * 4).toBeLessThan(rules.length);
});

test("the objectives of docs/slo.md are those of the recording rules", () => {
  const page = read("docs/slo.md");
  const listed = [...page.matchAll(/^\| `(?<slo>\w+)` \| (?<percent>[\d.]+) % /gm)].map(
    ({ groups }) => [groups?.slo, Number(groups?.percent)],
  );
  const objectives = allRules
    .filter(({ record }) => record === "slo:postrider_objective:ratio")
    .map(({ expr, labels }) => [
      labels?.["slo"],
      Number((100 * Number(/[\d.]+/.exec(expr)?.[0])).toFixed(3)),
    ]);
  expect(listed).toEqual(objectives);
});

test("the object of the Prometheus Operator has every rule, and runbooks below the address that is set", () => {
  const text = withRunbooks(read("deploy/observability/slo.yaml"), "https://docs.example.com/p/");
  const object = parse(toPrometheusRule([text])) as { readonly spec: object };
  expect(object.spec).toEqual(parseRules(text));
  expect(text).toContain(
    "runbook_url: https://docs.example.com/p/docs/operations.md#missed-objectives",
  );
});

interface RelabelRule {
  readonly source_labels: readonly [string];
  readonly action?: string;
  readonly regex?: string;
  readonly target_label?: string;
}

interface MonitorSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints: readonly object[];
}

test("the PodMonitor scrapes the same pods and ports as often as prometheus.yaml, under the same names", () => {
  const { spec } = parse(read("deploy/k8s/components/monitoring/pod-monitor.yaml")) as {
    readonly spec: MonitorSpec;
  };
  const config = parse(read("deploy/observability/prometheus.yaml")) as {
    readonly global: { readonly scrape_interval: string };
    readonly scrape_configs: readonly { readonly relabel_configs: readonly RelabelRule[] }[];
  };
  const rules = config.scrape_configs[0]?.relabel_configs ?? [];
  const kept = rules.filter(({ action }) => action === "keep").map(({ regex }) => regex);
  expect([...Object.values(spec.selector.matchLabels), "metrics"]).toEqual(kept);
  expect(spec.podMetricsEndpoints).toEqual([
    {
      port: "metrics",
      interval: config.global.scrape_interval,
      relabelings: [{ sourceLabels: ["__meta_kubernetes_pod_name"], targetLabel: "instance" }],
    },
  ]);
  expect(rules).toContainEqual({
    source_labels: ["__meta_kubernetes_pod_name"],
    target_label: "instance",
  });
});

/** What the Prometheus Operator adds for a PodMonitor; prometheus.yaml adds some of them. */
const TARGET_LABELS = ["container", "endpoint", "instance", "job", "namespace", "pod"];

test("no label of a scraped process hides a label that the code exports, because Prometheus would rename that one", () => {
  const hidden = registered.flatMap(({ name, labelNames }) =>
    labelNames.filter((label) => TARGET_LABELS.includes(label)).map((label) => `${name} ${label}`),
  );
  const added = read("deploy/observability/prometheus.yaml").matchAll(/target_label: (\w+)/g);
  expect(hidden).toEqual([]);
  expect(TARGET_LABELS).toEqual(expect.arrayContaining([...added].map(([, label]) => label)));
});
