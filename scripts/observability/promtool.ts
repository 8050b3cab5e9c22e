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

function withFile<T>(config: object, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "postrider-prometheus-"));
  try {
    const file = join(folder, "prometheus.yaml");
    writeFileSync(file, JSON.stringify(config));
    return use(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What `promtool` reports about a configuration and its rules; empty if it accepts them. */
export function checkConfiguration(config: object): string {
  const { status, stdout, stderr } = withFile(config, (file) =>
    run(findPromtool(), ["check", "config", file]),
  );
  return status === 0 ? "" : `${stdout}${stderr}`;
}

/** Of `static_configs`. */
export interface Targets {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** promtool waits to the end for more targets. */
const DISCOVERY = "1s";

/** The targets that Prometheus scrapes for a job, with their labels and `address`. */
export function discoverTargets(
  config: object,
  job: string,
): readonly Readonly<Record<string, string>>[] {
  const { stdout, stderr } = withFile(config, (file) =>
    run(findPromtool(), ["check", "service-discovery", `--timeout=${DISCOVERY}`, file, job]),
  );
  if (!stdout.startsWith("[")) throw new Error(`${stdout}${stderr}`);
  return (JSON.parse(stdout) as readonly Pick<Targets, "labels">[])
    .map(({ labels }) => Object.entries(labels ?? {}))
    .filter((labels) => labels.length > 0)
    .map((labels) =>
      Object.fromEntries(
        labels
          .map(([name, value]) => [name === "__address__" ? "address" : name, value] as const)
          .filter(([name]) => !name.startsWith("__")),
      ),
    );
}
