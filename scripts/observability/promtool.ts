import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../check/run-command.ts";

const CACHE = join(root, "node_modules/.cache/postrider/promtool");

function run(program: string, args: readonly string[], cwd = root) {
  return spawnSync(program, args, { cwd, encoding: "utf8" });
}

/** From PATH, or unpacked from the package `prometheus` of Debian, without installing it. */
function findPromtool(): string {
  if (run("promtool", ["--version"]).status === 0) return "promtool";
  const program = join(CACHE, "usr/bin/promtool");
  if (!existsSync(program)) unpack();
  if (existsSync(program)) return program;
  throw new Error("promtool is missing: install Prometheus 2.42 or newer, or run `apt-get update`");
}

function unpack(): void {
  rmSync(CACHE, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  const download = () => run("apt-get", ["download", "prometheus"], CACHE).status === 0;
  if (!download()) {
    run("apt-get", ["update"]);
    download();
  }
  for (const file of readdirSync(CACHE)) run("dpkg", ["-x", file, "."], CACHE);
}

export interface RuleTest {
  readonly rules: object;
  readonly tests: object;
}

/**
 * What `promtool test rules` reports about these tests, each of its own rules; empty if all pass.
 * One process runs all of them, because it takes longer to start than to run one.
 */
export function testRules(all: readonly RuleTest[]): string {
  const folder = mkdtempSync(join(tmpdir(), "postrider-rules-"));
  try {
    const files = all.map(({ rules, tests }, index) => {
      const [name, file] = [`rules-${index}.yaml`, join(folder, `tests-${index}.yaml`)];
      writeFileSync(join(folder, name), JSON.stringify(rules));
      writeFileSync(file, JSON.stringify({ rule_files: [name], ...tests }));
      return file;
    });
    const { status, stdout, stderr } = run(findPromtool(), ["test", "rules", ...files]);
    return status === 0 ? "" : `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
