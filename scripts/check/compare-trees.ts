import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Returns one line for each file in which two folders differ; empty when the folders are equal. */
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
