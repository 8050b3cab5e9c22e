import { readFileSync, statSync } from "node:fs";

/**
 * Whether no module of a bundle has changed since it was made. The file lists them with their times
 * of modification; in an image the list is empty.
 */
export function isBundleCurrent(inputsFile: string): boolean {
  try {
    const inputs: unknown = JSON.parse(readFileSync(inputsFile, "utf8"));
    return Object.entries(inputs as Readonly<Record<string, number>>).every(
      ([path, time]) => statSync(path).mtimeMs === time,
    );
  } catch {
    return false;
  }
}
