import { randomBytes } from "node:crypto";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, expect, test } from "vitest";
import { upload } from "../support/requests/media.ts";
import { parseExposition, readExpositions, seriesOf } from "../support/requests/metrics.ts";
import { create, whenTargets } from "../support/requests/posts.ts";
import { openTenant, type Tenant } from "../support/requests/tenant.ts";
import type { System } from "../support/system/system.ts";

/** Metrics that every process exposes. */
const PROCESS = [
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_eventloop_utilization",
  "nodejs_heap_size_used_bytes",
  "postrider_build_info",
  "postrider_ready",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_start_time_seconds",
];
const RPC = ["rpc_server_duration_seconds"];
const DATABASE = [
  "database_clock_skew_seconds",
  "database_connections",
  "database_oldest_snapshot_seconds",
  "database_pool_size",
  "database_pool_wait_seconds",
  "database_up",
];
const OUTBOX = ["events_published_total", "outbox_oldest_seconds", "outbox_rows"];
const CONSUMER = [
  "consumer_lag_seconds",
  "events_handled_total",
  "events_parked_total",
  "parked_events",
];

/** Metrics that are promised to operators, by service. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  gateway: [...PROCESS, "gateway_request_duration_seconds", "rpc_client_failures_total"],
  accounts: [
    ...PROCESS,
    ...RPC,
    ...DATABASE,
    ...OUTBOX,
    "accounts_connected",
    "accounts_tokens_held",
    "credential_refreshes_total",
    "credentials_resealed_total",
    "credentials_sealed_with_older_keys",
    "sealed_secrets_refused_total",
  ],
  posts: [
    ...PROCESS,
    ...RPC,
    ...DATABASE,
    ...OUTBOX,
    ...CONSUMER,
    "posts_events_held",
    "posts_oldest_due_seconds",
  ],
  media: [
    ...PROCESS,
    ...RPC,
    ...DATABASE,
    ...OUTBOX,
    "disk_free_ratio",
    "media_deletions_held",
    "media_store_held",
    "plain_route_duration_seconds",
  ],
  delivery: [
    ...PROCESS,
    ...RPC,
    ...DATABASE,
    ...OUTBOX,
    ...CONSUMER,
    "delivery_attempts_total",
    "delivery_claim_age_seconds",
    "delivery_claim_lateness_seconds",
    "delivery_deletions_total",
    "delivery_oldest_due_seconds",
    "delivery_platform_held",
    "delivery_publish_latency_seconds",
    "delivery_publishing_held",
    "delivery_refused_events_total",
    "delivery_targets_total",
    "delivery_tasks",
    "disk_free_ratio",
    "target_metrics_budget_used_ratio",
    "target_metrics_calls_total",
    "target_metrics_due",
    "target_metrics_limited_accounts",
    "target_metrics_oldest_due_seconds",
    "target_metrics_refreshes_total",
    "webhook_attempt_duration_seconds",
    "webhook_attempts_in_flight",
    "webhook_attempts_total",
    "webhook_claim_age_seconds",
    "webhook_claim_lateness_seconds",
    "webhook_disabled_subscriptions",
    "webhook_disabled_total",
    "webhook_incomplete_payloads_total",
    "webhook_subscriptions_leased",
    "webhook_oldest_due_seconds",
    "webhook_oldest_unwritten_payload_seconds",
    "webhook_open_breakers",
    "webhook_partitions_missing",
    "webhook_partitions_overdue",
    "webhook_queue_deliveries",
    "webhook_refused_attempts_total",
    "webhook_refused_deliveries_total",
    "webhook_trimmed_deliveries_total",
    "webhook_unwritten_payloads",
  ],
};

/** The values that each metric label may have, as a pattern: no client can choose a value. */
const LABELS: Readonly<Record<string, RegExp>> = {
  code: /^[a-z_]*$/,
  direction: /^(in|out)$/,
  group: /^(delivery(\.engagement|\.webhooks)?|media|posts)$/,
  kind: /^[a-z]+$/,
  le: /^([\d.]+|\+Inf)$/,
  method: /^([A-Z-]+|[A-Z][A-Za-z]+)$/,
  outcome: /^[a-z_]+$/,
  pace: /^(new|fast|slow)$/,
  partition: /^\d{1,3}$/,
  reason: /^[a-z_]+$/,
  recorded: /^(without_text|without_decision|nothing)$/,
  pool: /^(main|webhooks|engagement)$/,
  platform: /^(instagram|x|facebook|tiktok|youtube|telegram|bluesky)$/,
  result: /^[a-z_]+$/,
  route: /^(unknown|\*|(\/(v1|[a-z._-]+|:[A-Za-z]+|\*))+|\/)$/,
  service: /^(gateway|accounts|posts|media|delivery|postrider\.[a-z]+\.v1\.[A-Za-z]+)$/,
  space: /^[a-z_]+$/,
  state: /^[a-z ]+$/,
  status: /^([1-5]\d\d|[a-z_]+)$/,
  succeeded: /^(true|false)$/,
  topic: /^[a-z]+\.events\.v1$/,
  trigger: /^(hand|schedule)$/,
  type: /^([A-Za-z]+|[a-z]+_[a-z]+|[a-z_]+\.[a-z_]+|postrider\.[a-z]+\.v1\.[A-Za-z]+)$/,
  version: /^(v?\d+\.\d+\.\d+)$/,
  volume: /^[a-z]+$/,
  major: /^\d+$/,
  minor: /^\d+$/,
  patch: /^\d+$/,
};

const PICTURE = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };

let system: System;
let tenant: Tenant;

/** Returns a text that no earlier request has contained. */
function fresh(): string {
  return randomBytes(12).toString("hex");
}

/**
 * Sends various requests, valid and invalid ones, to the gateway, each with ids, paths and texts
 * that no earlier request contained.
 */
async function useEverything(): Promise<void> {
  const { baseUrl } = system.local();
  const accountId = await tenant.connect("x");
  const { id: mediaId } = await upload(tenant.api, PICTURE);
  const body = { content: fresh(), accountIds: [accountId], mediaIds: [mediaId] };
  const post = await create(tenant.api, body);
  await whenTargets(tenant.api, post.id, "published");
  const unknownPaths = [`/${fresh()}`, `/posts/${fresh()}`, `/posts/${crypto.randomUUID()}`];
  for (const path of [...unknownPaths, `/posts?cursor=${fresh()}`, `/${fresh()}/${fresh()}`])
    await tenant.api.call("GET", path);
  for (const method of ["GET", "POST", "PROPFIND", "OPTIONS"])
    await fetch(`${baseUrl}/${fresh()}?${fresh()}=${fresh()}`, { method });
  await fetch(`${baseUrl}/media/${fresh()}`);
  await fetch(`${baseUrl}/api/v1/posts`, { headers: { authorization: `Bearer ${fresh()}` } });
  await tenant.api.call("DELETE", `/posts/${post.id}`);
  await eventually(async () => {
    const { body: gone } = await tenant.api.call<{ targets: { status: string }[] }>(
      "GET",
      `/posts/${post.id}`,
    );
    expect(gone.targets.map(({ status }) => status)).toEqual(["deleted"]);
  });
}

/** Tests which metrics the services expose. No other test may have used the system before. */
export function testMetrics(given: () => System): void {
  beforeAll(async () => {
    system = given();
    tenant = await openTenant(system);
    await useEverything();
  });

  test.each(Object.keys(PROMISED))(
    "the %s service exposes every metric that is promised to operators",
    async (service) => {
      const { help, types, samples } = (await readExpositions(system)).get(service) ?? {};

      expect([...(types?.keys() ?? [])]).toEqual(
        expect.arrayContaining([...(PROMISED[service] ?? [])]),
      );
      for (const [name, text] of help ?? []) expect(text, name).toMatch(/^\S.{9,}/);
      expect(samples?.length).toBeGreaterThan(0);
    },
  );

  test("the delivery service exposes the size of each of its three connection pools", async () => {
    const { samples = [] } = (await readExpositions(system)).get("delivery") ?? {};

    const sizes = samples.filter(({ name }) => name === "database_pool_size");
    expect(sizes.map(({ labels }) => labels.pool ?? "").toSorted()).toEqual([
      "engagement",
      "main",
      "webhooks",
    ]);
  });

  test("every process that is ready exposes `postrider_ready` as 1", async () => {
    await eventually(async () => {
      const found = await readExpositions(system);
      const ready = [...found].map(([service, { samples }]) => [
        service,
        samples.find(({ name }) => name === "postrider_ready")?.value,
      ]);
      expect(Object.fromEntries(ready)).toEqual(
        Object.fromEntries(Object.keys(PROMISED).map((service) => [service, 1])),
      );
    });
  });

  test("every metric for which an increase raises an alert is exported with the value 0 from the start of the process", async () => {
    const { samples } = (await readExpositions(system)).get("delivery") ?? {};
    const zeroes = (label: string, value: string) =>
      samples
        ?.filter((sample) => sample.labels[label] === value && sample.value === 0)
        .map(({ name, labels }) => `${name} ${labels.platform ?? labels.type}`)
        .toSorted();
    const ofAll = (name: string) => [...PLATFORM_IDS].toSorted().map((each) => `${name} ${each}`);

    expect(zeroes("code", "missed")).toEqual(ofAll("delivery_targets_total"));
    expect(zeroes("code", "outcome_unknown")).toEqual([
      ...["hide", "private_reply", "reply", "unhide"].map(
        (type) => `delivery_comment_actions_total ${type}`,
      ),
      ...ofAll("delivery_targets_total"),
    ]);
    expect(zeroes("outcome", "unknown")).toEqual(ofAll("delivery_attempts_total"));
  });

  test("publishing a post increases the request and event counters of every service that takes part", async () => {
    const found = await readExpositions(system);
    const value = (service: string, name: string, labels: Readonly<Record<string, string>>) =>
      found
        .get(service)
        ?.samples.filter(
          (sample) =>
            sample.name === name &&
            Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
        )
        .reduce((sum, sample) => sum + sample.value, 0);

    expect(
      value("gateway", "gateway_request_duration_seconds_count", {
        method: "POST",
        route: "/api/v1/posts",
        status: "202",
      }),
    ).toBe(1);
    expect(
      value("posts", "rpc_server_duration_seconds_count", { method: "CreatePost", code: "ok" }),
    ).toBe(1);
    expect(value("delivery", "delivery_publish_latency_seconds_count", { platform: "x" })).toBe(1);
    expect(
      value("delivery", "delivery_attempts_total", { platform: "x", outcome: "published" }),
    ).toBe(1);
    expect(value("delivery", "database_up", {})).toBe(1);
    for (const service of found.keys())
      expect(value(service, "postrider_ready", {}), service).toBe(1);
    expect(value("posts", "consumer_lag_seconds", {})).toBeLessThan(30);
    expect(value("delivery", "delivery_claim_age_seconds", {})).toBeLessThan(5);
  });

  test("no metric label has a value that a client can choose", async () => {
    const strange = new Set<string>();
    for (const [service, { samples }] of await readExpositions(system))
      for (const { name, labels } of samples)
        for (const [label, value] of Object.entries(labels))
          if (LABELS[label]?.test(value) !== true)
            strange.add(`${service} ${name} ${label}=${value}`);

    expect([...strange]).toEqual([]);
  });

  test("requests with new ids, paths and texts create no new metric time series", async () => {
    const readSeries = async () =>
      [...(await readExpositions(system))].flatMap(([service, told]) => seriesOf(service, told));
    const before = new Set(await readSeries());
    await useEverything();
    await useEverything();
    const after = await readSeries();

    // Metric series about work in progress appear and disappear, and the series for a type of
    // garbage collection appears when that type runs for the first time. These series are therefore
    // not compared.
    const added = after.filter(
      (series) => !before.has(series) && !/ nodejs_(active|gc)_/.test(series),
    );
    expect(added).toEqual([]);
  });

  test("the patterns that check the label values of metrics reject a route that contains an id", () => {
    const text = `posts_total{route="/posts/${crypto.randomUUID()}"} 1`;
    const [sample] = parseExposition(text).samples;

    expect(LABELS.route?.test(sample?.labels.route ?? "")).toBe(false);
  });
}
