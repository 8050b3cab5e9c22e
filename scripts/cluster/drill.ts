import { execFile } from "node:child_process";
import { basename } from "node:path";
import { parseArgs, promisify } from "node:util";
import { ensureDemoWorkspace } from "../../packages/local/src/demo/demo-workspace.ts";
import { poll } from "../../packages/local/src/processes/poll.ts";
import { toIdentity } from "../../packages/shared/src/identity/settings.ts";
import { publishEverywhere } from "../images/publish.ts";
import { startLoad } from "./load.ts";

// Publishes to all simulated platforms, then restarts, kills, evicts, upgrades and rolls back the
// services of overlays/local under load. It expects forwarded ports and the operator's key in
// IDENTITY_KEYS: scripts/cluster.ts provides both.
const SERVICES = ["accounts", "posts", "media", "inspector", "delivery"];
const DEPLOYMENTS = SERVICES.map((name) => `deployment/${name}`);
const POST_EVERY = 10;
/** One account would reach the platform's limit of posts in an hour. */
const ACCOUNTS = 12;
/** Longer than a few retries of a call, because a small cluster may be busy. */
const PUBLISH_MS = 300_000;

const run = promisify(execFile);

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await run("kubectl", ["--namespace=postrider", ...args])).stdout;
}

async function awaitRollouts(): Promise<void> {
  for (const name of DEPLOYMENTS) await kubectl("rollout", "status", name, "--timeout=5m");
}

/** Without a chance to finish its requests; its partner has to answer. */
async function killOnePodOfEach(): Promise<void> {
  for (const name of SERVICES) {
    const pods = await kubectl("get", "pods", "-o", "name", "-l", `app.kubernetes.io/name=${name}`);
    const pod = pods.split("\n")[0] ?? "";
    await kubectl("delete", pod, "--grace-period=0", "--force", "--wait=false");
    await awaitRollouts();
  }
}

/** Undefined if the disruption budget forbids it now. */
async function evict(pod: string): Promise<true | undefined> {
  const metadata = { name: pod, namespace: "postrider" };
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata };
  const path = `/api/v1/namespaces/postrider/pods/${pod}/eviction`;
  const running = run("kubectl", ["create", "--raw", path, "--filename=-"]);
  running.child.stdin?.end(JSON.stringify(eviction));
  try {
    await running;
  } catch (error) {
    if (String(error).includes("disruption budget")) return undefined;
    // A pod that an earlier step has replaced may end meanwhile.
    if (!String(error).includes("not found")) throw error;
  }
  return true;
}

/**
 * What `kubectl drain` asks for, but of all nodes and without closing one, so that it also works on
 * a cluster of one node.
 */
async function evictAll(): Promise<void> {
  const selector = `app.kubernetes.io/name in (${SERVICES.join(",")})`;
  const names = await kubectl("get", "pods", "-o", "name", "-l", selector);
  for (const pod of names
    .trim()
    .split("\n")
    .map((name) => basename(name))) {
    const isEvicted = await poll(() => evict(pod), { everyMs: 1000, timeoutMs: 300_000 });
    if (isEvicted === undefined) throw new Error(`its disruption budget did not let ${pod} go`);
  }
}

/** A pod that has no room on another node starts when this one takes pods again. */
async function drain(node: string): Promise<void> {
  await kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=10m");
  await kubectl("uncordon", node);
}

/** The inspector reads no setting. */
const CHANGED = DEPLOYMENTS.filter((name) => !name.endsWith("inspector"));

const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
  "two pods of each service": () => kubectl("scale", ...DEPLOYMENTS, "--replicas=2"),
  "rolling restart of each service": () => kubectl("rollout", "restart", ...DEPLOYMENTS),
  "one pod of each service is killed": killOnePodOfEach,
  "all pods are evicted, within their disruption budgets": evictAll,
  "another revision of each service": () => kubectl("set", "env", ...CHANGED, "LOG_LEVEL=warn"),
  "back to the revision before": () => kubectl("rollout", "undo", ...CHANGED),
};

/** False if a request failed, or an accepted post was lost or doubled. */
async function runStep(
  name: string,
  change: () => Promise<unknown>,
  start: () => ReturnType<typeof startLoad>,
): Promise<boolean> {
  const startedAt = performance.now();
  const load = start();
  await change();
  await awaitRollouts();
  const { requests, failures, accepted, lost, doubled } = await load.stop();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(
    `${name}: ${seconds} s, ${requests} requests, ${failures.length} failed, ${accepted} posts, ${lost} lost, ${doubled} doubled`,
  );
  for (const failure of failures.slice(0, 5)) console.log(`  ${failure}`);
  return failures.length + lost + doubled === 0 && accepted > 0;
}

async function connectAccounts(workspaceId: string): Promise<readonly string[]> {
  const tool = ["exec", "deployment/ops", "--", "node", "dist/main.js"];
  const options = [`--workspace=${workspaceId}`, "--simulated", `--count=${ACCOUNTS}`, "--json"];
  const answer = await kubectl(...tool, "account", "connect", "bluesky", ...options);
  const { accounts } = JSON.parse(answer) as { readonly accounts: readonly { id: string }[] };
  return accounts.map(({ id }) => id);
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { rate: { type: "string", default: "10" }, drain: { type: "string" } },
  });
  const perSecond = Number(values.rate);
  if (!(perSecond > 0)) throw new Error(`--rate takes a number, not "${values.rate}"`);
  const identity = toIdentity("operator", [process.env.IDENTITY_KEYS ?? ""]);
  if (identity === undefined) throw new Error("IDENTITY_KEYS holds no key");
  console.log(`${await publishEverywhere(identity, PUBLISH_MS)} publications are visible`);
  const demo = { accountsUrl: "http://127.0.0.1:8081", identity, known: undefined };
  const { apiKey, workspaceId } = await ensureDemoWorkspace(demo);
  const accountIds = await connectAccounts(workspaceId);
  const baseUrl = "http://127.0.0.1:8080";
  const simulatorUrl = "http://127.0.0.1:4100";
  const start = () =>
    startLoad({
      baseUrl,
      simulatorUrl,
      apiKey,
      accountIds,
      perSecond,
      postEvery: POST_EVERY,
      maxRetries: 0,
    });
  const { drain: node } = values;
  const steps = {
    ...STEPS,
    ...(node === undefined ? {} : { [`${node} is drained`]: () => drain(node) }),
  };
  let isGood = true;
  for (const [name, change] of Object.entries(steps))
    isGood = (await runStep(name, change, start)) && isGood;
  return isGood;
}

process.exitCode = (await main()) ? 0 : 1;
