import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Says for each file in which way two folders differ; nothing when they hold the same. */
export function compareTrees(expected: string, actual: string): string[] {
  const expectedFiles = listFiles(expected);
  const actualFiles = new Set(listFiles(actual));
  const differences = expectedFiles.flatMap((file) => {
    if (!actualFiles.delete(file)) return [`missing: ${file}`];
    const same = readFileSync(join(expected, file)).equals(readFileSync(join(actual, file)));
    return same ? [] : [`changed: ${file}`];
  });
  return [...differences, ...[...actualFiles].map((file) => `left over: ${file}`)];
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}
