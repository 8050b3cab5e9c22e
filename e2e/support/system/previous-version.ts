import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");
/**
 * Folder with the source code of earlier versions. It is kept from run to run, so that each version
 * is fetched and installed once.
 */
const FOLDER = join(ROOT, ".postrider/previous");
const LOCKFILE = "pnpm-lock.yaml";
const PACKAGES = ["packages", "services"];

/** An earlier version of Postrider, ready to be started. */
export interface PreviousVersion {
  /**
   * Commit of the earlier version. Undefined when no earlier version can be found; the tests then
   * use the current version in its place.
   */
  readonly commit: string | undefined;
  /** Prepares the earlier version to be started, and returns the root folder of its source code. */
  prepare(): string;
}

function git(...args: readonly string[]): string {
  const options = { cwd: ROOT, encoding: "utf8" } as const;
  return execFileSync("git", args, { ...options, stdio: ["ignore", "pipe", "ignore"] }).trim();
}

function findCommit(revision: string): string | undefined {
  try {
    return git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`);
  } catch {
    return undefined;
  }
}

function findMergeBase(branch: string): string | undefined {
  try {
    return git("merge-base", "HEAD", branch);
  } catch {
    return undefined;
  }
}

/**
 * Chooses the commit of the version from which operators upgrade to the current one: the commit
 * that `POSTRIDER_E2E_PREVIOUS` names, otherwise the merge base with main, otherwise the parent
 * commit. In a clone of one commit, the parent is fetched if the git remote `origin` can be
 * reached.
 */
function choosePrevious(): string | undefined {
  const named = process.env.POSTRIDER_E2E_PREVIOUS;
  if (named !== undefined) {
    const commit = findCommit(named);
    if (commit === undefined) throw new Error(`POSTRIDER_E2E_PREVIOUS: no commit ${named} here`);
    return commit;
  }
  const head = findCommit("HEAD");
  if (head === undefined) return undefined;
  const bases = ["main", "origin/main"].map(findMergeBase);
  const base = bases.find((commit) => commit !== undefined && commit !== head);
  return base ?? findCommit("HEAD^1") ?? deepen();
}

function deepen(): string | undefined {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  try {
    execFileSync("git", ["fetch", "--quiet", "--deepen", "1"], { cwd: ROOT, env, timeout: 30_000 });
  } catch {
    return undefined;
  }
  return findCommit("HEAD^1");
}

/**
 * Makes the npm packages of an earlier version available: links the packages of the current version
 * when both lockfiles are equal, and installs packages otherwise.
 */
function addPackages(folder: string): void {
  const lock = (root: string): string => readFileSync(join(root, LOCKFILE), "utf8");
  if (lock(folder) !== lock(ROOT)) {
    const install = ["--yes", "pnpm@10.34.8", "install", "--frozen-lockfile", "--prefer-offline"];
    execFileSync("npx", install, { cwd: folder, env: { ...process.env, CI: "true" } });
    return;
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const group of PACKAGES)
    for (const name of readdirSync(join(folder, group))) {
      const from = join(ROOT, group, name, "node_modules");
      // The links between workspace packages are relative, so they lead to packages of the same
      // source folder.
      const options = { recursive: true, verbatimSymlinks: true };
      if (existsSync(from)) cpSync(from, join(folder, group, name, "node_modules"), options);
    }
}

function checkOut(commit: string): string {
  const folder = join(FOLDER, commit);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const archive = join(FOLDER, "archive.tar");
  git("archive", "--output", archive, commit);
  execFileSync("tar", ["-xf", archive, "-C", unfinished]);
  rmSync(archive);
  addPackages(unfinished);
  renameSync(unfinished, folder);
  return folder;
}

/**
 * Finds the earlier version that runs beside the current one during an upgrade.
 *
 * Without git history (in an unpacked archive, or a clone of one commit whose origin cannot be
 * reached) the tests use the current version in its place. A commit that `POSTRIDER_E2E_PREVIOUS`
 * names must exist.
 */
export function findPreviousVersion(): PreviousVersion {
  const commit = choosePrevious();
  return { commit, prepare: () => (commit === undefined ? ROOT : checkOut(commit)) };
}
