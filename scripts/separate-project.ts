import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runInForeground, runScript, runVitest } from "./check/run-command.ts";

const PNPM = "pnpm@10.34.8";

/** Packages that only one command needs, and which are therefore installed in a separate folder. */
interface SeparateProject {
  readonly folder: string;
  readonly list: string;
  /** File with the hash of the installed list. Deleting the packages deletes this file too. */
  readonly stamp: string;
  readonly install: () => Promise<boolean>;
}

/**
 * Without a lockfile of thousands of lines: `package.json` has exact versions, and what these need
 * is the newest of its date `publishedBefore`.
 */
async function installNpm(folder: string): Promise<boolean> {
  const { publishedBefore } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly publishedBefore: string;
  };
  const minutes = Math.ceil((Date.now() - Date.parse(publishedBefore)) / 60_000);
  const versions = ["--no-lockfile", `--config.minimumReleaseAge=${minutes}`];
  const args = ["--yes", PNPM, "--dir", folder, "install", ...versions, "--reporter=append-only"];
  return await runInForeground("npx", args, { CI: "true" });
}

export function npmProject(path: string): SeparateProject {
  const folder = join(root, path);
  return {
    folder,
    list: "package.json",
    stamp: "node_modules/.installed",
    install: () => installNpm(folder),
  };
}

const PYTHON = "node_modules/.python";

/** Installs the listed Python packages, and no others, into a separate Python environment. */
async function installPython(folder: string): Promise<boolean> {
  const environment = join(folder, PYTHON);
  const made = await runInForeground("python3", ["-m", "venv", environment], {}).catch(() => false);
  if (!made) {
    process.stderr.write("python3 with venv is missing: apt-get install python3 python3-venv\n");
    return false;
  }
  const packages = ["--no-deps", "--requirement", join(folder, "requirements.txt")];
  return await runInForeground(join(environment, "bin/pip"), ["install", "--quiet", ...packages], {
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
  });
}

/** Its `requirements.txt` also lists what these packages need. */
export function pythonProject(path: string): SeparateProject {
  const folder = join(root, path);
  return {
    folder,
    list: "requirements.txt",
    stamp: `${PYTHON}/.installed`,
    install: () => installPython(folder),
  };
}

/** Unless those of the same list are installed. */
export async function installProject(project: SeparateProject): Promise<boolean> {
  const list = readFileSync(join(project.folder, project.list));
  const wanted = createHash("sha256").update(list).digest("hex");
  const stamp = join(project.folder, project.stamp);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;
  const startedAt = performance.now();
  if (!(await project.install())) return false;
  writeFileSync(stamp, wanted);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`the packages of ${project.list} were installed in ${seconds} s\n`);
  return true;
}

export async function runTestsOf(
  name: string,
  projects: readonly SeparateProject[],
): Promise<void> {
  await runScript(name, async () => {
    let ok = true;
    for (const project of projects) ok &&= await installProject(project);
    return ok && (await runVitest(["--project", name], {}));
  });
}
