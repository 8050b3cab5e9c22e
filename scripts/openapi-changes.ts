import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { listBreakingChanges } from "./openapi-changes/compare.ts";
import type { Description } from "./openapi-changes/document.ts";

/**
 * Reports changes of the API description that break clients of the last release, which a git tag
 * `v…` names.
 */
const FILE = "services/gateway/openapi.json";
const cwd = `${import.meta.dirname}/..`;

function git(...args: readonly string[]): string {
  return execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 100_000_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function findRelease(): string | undefined {
  try {
    return git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*").trim();
  } catch {
    return undefined;
  }
}

const read = (text: string) => JSON.parse(text) as Description;
const release = findRelease();
if (release === undefined) process.stdout.write("not compared: no release is tagged here\n");
else {
  const changes = listBreakingChanges(
    read(git("show", `${release}:${FILE}`)),
    read(readFileSync(`${cwd}/${FILE}`, "utf8")),
  );
  if (changes.length > 0) {
    const lines = changes.map((change) => `  ${change}\n`).join("");
    process.stderr.write(
      `${FILE} breaks clients of ${release} (docs/api/versioning.md):\n${lines}`,
    );
    process.exitCode = 1;
  }
}
